// SPDX-License-Identifier: Apache-2.0
#include "messages/tensor.h"

#include <fmt/ranges.h>

#include "messages/error.h"

namespace trainyard {

std::int64_t Tensor::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

Tensor Tensor::empty(DType dtype, std::vector<std::int64_t> shape) {
  const std::size_t bytes = checked_bytes(dtype, shape);
  return {dtype, std::move(shape), 0, Buffer::heap(bytes)};
}

// An extent of 0 makes the product 0, whatever the other extents are. This is right, because such a tensor has no
// bytes.
std::size_t checked_bytes(DType dtype, std::span<const std::int64_t> shape) {
  std::size_t bytes = size_of(dtype);
  if (bytes == 0) throw Error(Code::kCorrupt, "tensor with unknown dtype number {}", static_cast<int>(dtype));
  for (const std::int64_t extent : shape) {
    if (extent < 0) throw Error(Code::kCorrupt, "tensor with negative extent in shape {}", to_text(shape));
    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(extent), &bytes)) {
      throw Error(Code::kCorrupt, "tensor of shape {} has more bytes than can be addressed", to_text(shape));
    }
  }
  return bytes;
}

std::string to_text(std::span<const std::int64_t> shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

}  // namespace trainyard
