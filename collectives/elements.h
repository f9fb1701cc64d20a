#pragma once

#include <cstdint>
#include <string_view>

#include "messages/dtype.h"
#include "messages/memory_space.h"

namespace trainyard {

/// How the elements of all ranks become one.
enum class ReduceOp : std::uint8_t { kSum, kMean, kMin, kMax, kProduct };
/// The operation's name: "sum", "mean", ...
std::string_view name_of(ReduceOp op);

/// A run of elements on which an operation works. The memory must stay, and must not be touched, until the operation
/// has been waited for.
struct Elements {
  void* data = nullptr;
  DType dtype = DType::kFloat32;
  std::uint64_t count = 0;
  MemorySpace space = {};  ///< Where `data` lies. A backend refuses a space that it does not serve.

  std::uint64_t bytes() const { return count * size_of(dtype); }
};

}  // namespace trainyard
