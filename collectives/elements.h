// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "messages/dtype.h"
#include "messages/memory_space.h"

namespace trainyard {

/// The function that combines the corresponding elements of all ranks into one.
enum class ReduceOp : std::uint8_t { kSum, kMean, kMin, kMax, kProduct };
/// Returns the name of `op`: "sum", "mean", ...
std::string_view name_of(ReduceOp op);

/// The contiguous elements that an operation works on. The memory belongs to the caller. It must remain valid, and the
/// caller must not access it, until Work::wait() for the operation has returned.
struct Elements {
  void* data = nullptr;
  DType dtype = DType::kFloat32;
  std::uint64_t count = 0;
  MemorySpace space = {};  ///< The kind of memory that holds `data`. A backend refuses kinds that it does not support.

  std::uint64_t bytes() const { return count * size_of(dtype); }
};

}  // namespace trainyard
