// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "messages/schema.h"

namespace trainyard::tools {

/// Returns the total size in bytes of the tensors of a message, computed from their dtypes and shapes. The bytes
/// themselves need not have been received. A tensor that refers to no payload counts as 0, and tensors that refer to
/// the same bytes count once. Throws kCorrupt if the body does not match the schema.
std::uint64_t tensor_bytes(const Schema& schema, std::span<const std::byte> body);

}  // namespace trainyard::tools
