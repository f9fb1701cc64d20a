// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "messages/saved_state.h"

namespace trainyard {

/// The size that a buffer shared by several tensors usually does not exceed. A payload must fit into one frame of a
/// socket, at most 4 GiB, and the clients in other languages accept 1 GiB.
constexpr std::size_t kUsualBufferBytes = std::size_t{1} << 30;

/// Gives memory to tensors whose dtype and shape are set. The tensors share a few buffers, fewer than kMaxPayloads, so
/// that all of them fit into one message, however many they are. A buffer is larger than `usual_buffer_bytes` only if
/// it contains a single tensor, or if there would otherwise be too many buffers. Each tensor begins at a multiple of 64
/// bytes. The elements are uninitialised. Throws kCorrupt in the same cases as checked_bytes().
void allocate_together(std::span<Tensor> tensors, std::size_t usual_buffer_bytes = kUsualBufferBytes);

/// Ensures that the states fit into one message that has no other tensors. If their tensors are in more buffers than a
/// message can refer to, copies them into a few shared ones. Otherwise copies nothing.
void fit_into_message(std::vector<SavedState>& states);

}  // namespace trainyard
