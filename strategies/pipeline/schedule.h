// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "messages/words.h"

namespace trainyard::pipeline {

/// The orders in which a rank of a pipeline computes forward and backward passes. They differ in memory use, not in the
/// result.
enum class ScheduleKind : std::uint8_t { kOneForwardOneBackward, kGpipe };
constexpr auto words_of(ScheduleKind) { return words("pipeline schedule", "1f1b", "gpipe"); }

/// One action of a pipeline schedule: a rank's forward or backward pass for one micro-batch.
struct Action {
  enum Kind : std::uint8_t { kForward, kBackward };
  Kind kind = kForward;
  std::size_t micro_batch = 0;

  friend bool operator==(const Action&, const Action&) = default;
};

/// Returns the pipeline schedule with all forward passes first, then all backward passes (Huang et al., 2019). A rank
/// keeps the activations of all micro-batches at the same time.
std::vector<Action> gpipe(std::size_t micro_batches);

/// Returns the 1F1B schedule of rank `rank` (Narayanan et al., 2019, with a flush at the end of the step). It begins
/// with `ranks - rank - 1` forward passes, which give the ranks after this one work to do. Then one backward pass
/// follows each forward pass, until only backward passes are left. So this rank keeps the activations of at most
/// `ranks - rank` micro-batches.
std::vector<Action> one_forward_one_backward(std::size_t micro_batches, std::uint32_t rank, std::uint32_t ranks);

}  // namespace trainyard::pipeline
