// SPDX-License-Identifier: Apache-2.0
#include "tensors/bridge.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <array>
#include <memory>
#include <utility>

#include "messages/error.h"

namespace trainyard {
namespace {

/// The element types that both messages and LibTorch support.
constexpr std::array<std::pair<DType, at::ScalarType>, 10> kTypes{{{DType::kUInt8, at::kByte},
                                                                   {DType::kInt8, at::kChar},
                                                                   {DType::kInt16, at::kShort},
                                                                   {DType::kInt32, at::kInt},
                                                                   {DType::kInt64, at::kLong},
                                                                   {DType::kFloat16, at::kHalf},
                                                                   {DType::kBFloat16, at::kBFloat16},
                                                                   {DType::kFloat32, at::kFloat},
                                                                   {DType::kFloat64, at::kDouble},
                                                                   {DType::kBool, at::kBool}}};

/// Throws kCorrupt if the tensor does not fit into its buffer. The shape and the offset may have come from another
/// process, so they are not trusted.
void check_inside_buffer(const Tensor& tensor) {
  const std::size_t wanted = checked_bytes(tensor.dtype, tensor.shape);
  if (tensor.offset > tensor.buffer.size() || wanted > tensor.buffer.size() - tensor.offset) {
    throw Error(Code::kCorrupt, "a {} tensor of shape {} at offset {} does not fit into its buffer of {} bytes",
                name_of(tensor.dtype), to_text(tensor.shape), tensor.offset, tensor.buffer.size());
  }
}

}  // namespace

at::Tensor view_of(const Tensor& tensor) {
  check_inside_buffer(tensor);
  const auto options = at::TensorOptions().dtype(scalar_type_of(tensor.dtype));
  // An empty buffer has a null pointer, which from_blob refuses.
  if (tensor.elements() == 0) return at::empty(tensor.shape, options);
  // The lambda holds a copy of the buffer, which keeps the bytes alive as long as the tensor; it need not delete
  // anything.
  return at::from_blob(
      tensor.data(), tensor.shape, [kept = tensor.buffer](void*) {}, options);
}

Tensor message_of(const at::Tensor& tensor) {
  if (!tensor.device().is_cpu() || !tensor.is_contiguous()) {
    throw Error(Code::kUnsupported, "a tensor of shape {} on {}{} cannot be sent; it must be contiguous and on the cpu",
                to_text({tensor.sizes().data(), tensor.sizes().size()}), tensor.device().str(),
                tensor.is_contiguous() ? "" : " with gaps");
  }
  auto owner = std::make_shared<at::Tensor>(tensor);
  auto* data = static_cast<std::byte*>(tensor.data_ptr());
  return {.dtype = dtype_of(tensor.scalar_type()),
          .shape = tensor.sizes().vec(),
          .offset = 0,
          .buffer = Buffer(std::move(owner), data, tensor.nbytes())};
}

at::ScalarType scalar_type_of(DType dtype) {
  for (const auto& [ours, theirs] : kTypes) {
    if (ours == dtype) return theirs;
  }
  throw Error(Code::kCorrupt, "{} is not an element type", static_cast<int>(dtype));
}

DType dtype_of(at::ScalarType type) {
  for (const auto& [ours, theirs] : kTypes) {
    if (theirs == type) return ours;
  }
  throw Error(Code::kUnsupported, "messages carry no tensors of LibTorch type {}", at::toString(type));
}

}  // namespace trainyard
