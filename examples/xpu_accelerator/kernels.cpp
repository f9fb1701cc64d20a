// SPDX-License-Identifier: Apache-2.0
// The operations on tensors of the device. Making tensors, viewing them with another shape and copying them is
// implemented here. For all other operations, the tensors are copied to the processor, which computes the result. A
// real device would add its kernels here, one by one.
#include <ATen/EmptyTensor.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/view_native.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include <atomic>
#include <cstring>

#include "backend.h"
#include "device_memory.h"
#include "libtorch_versions.h"

namespace xpu {
namespace {

using trainyard::TorchOptional;

constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

std::atomic<std::uint64_t> kernels{0};
std::atomic<std::uint64_t> bytes_in{0};
std::atomic<std::uint64_t> bytes_out{0};

c10::Device wanted(TorchOptional<c10::Device> device) {
  return device ? *device : c10::Device(c10::kPrivateUse1, static_cast<c10::DeviceIndex>(current_device()));
}

at::Tensor empty(at::IntArrayRef size, TorchOptional<at::ScalarType> type, TorchOptional<at::Layout>,
                 TorchOptional<at::Device> device, TorchOptional<bool>, TorchOptional<at::MemoryFormat> format) {
  const c10::DeviceGuard guard(wanted(device));
  return at::detail::empty_generic(size, allocator(), kKeys, type.value_or(at::kFloat), format);
}

at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride, TorchOptional<at::ScalarType> type,
                         TorchOptional<at::Layout>, TorchOptional<at::Device> device, TorchOptional<bool>) {
  const c10::DeviceGuard guard(wanted(device));
  return at::detail::empty_strided_generic(size, stride, allocator(), kKeys, type.value_or(at::kFloat));
}

/// Gives the tensor another size. If its memory is too small, allocates more and copies the content.
const at::Tensor& resize_(const at::Tensor& self, at::IntArrayRef size, TorchOptional<at::MemoryFormat>) {
  const c10::DeviceGuard guard(self.device());
  self.unsafeGetTensorImpl()->set_sizes_contiguous(size);
  const c10::Storage& storage = self.storage();
  const auto offset = static_cast<std::size_t>(self.storage_offset());
  const std::size_t needed = (offset + static_cast<std::size_t>(self.numel())) * self.itemsize();
  if (needed <= storage.nbytes()) return self;
  c10::DataPtr grown = static_cast<AllocatorBase*>(allocator())->take(needed);
  if (storage.nbytes() > 0) {
    static_cast<AllocatorBase*>(allocator())
        ->copy_on_device(grown.get(), self.storage().data_ptr().get(), storage.nbytes());
  }
  storage.set_data_ptr_noswap(std::move(grown));
  storage.set_nbytes(needed);
  return self;
}

/// Returns a CPU tensor over the same bytes, at the addresses at which the host can access them (DeviceMemory::window).
/// Only copies use this function; it stands for the copying hardware of a real card.
at::Tensor through_window(const at::Tensor& tensor) {
  if (tensor.is_cpu()) return tensor;
  void* bytes = memory_at(tensor.data_ptr())->window(tensor.data_ptr());
  return at::from_blob(bytes, tensor.sizes(), tensor.strides(), at::TensorOptions().dtype(tensor.scalar_type()));
}

/// Copies between host and device and within the device, with changes of type and layout.
at::Tensor copy_from(const at::Tensor& self, const at::Tensor& to, bool) {
  if (to.numel() == 0) return to;
  if (self.is_cpu()) bytes_in += self.nbytes();
  if (to.is_cpu()) bytes_out += to.nbytes();
  through_window(to).copy_(through_window(self));
  return to;
}

at::Tensor copy_from_and_resize(const at::Tensor& self, const at::Tensor& to) {
  if (self.sizes() != to.sizes()) to.resize_(self.sizes());
  return copy_from(self, to, false);
}

/// Copies the operands to the processor, computes there and copies the results back.
void compute_on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  ++kernels;
  at::native::cpu_fallback(op, stack);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("empty.memory_format", &empty);
  library.impl("empty_strided", &empty_strided);
  library.impl("resize_", &resize_);
  library.impl("_copy_from", &copy_from);
  library.impl("_copy_from_and_resize", &copy_from_and_resize);
  // Views do not access the memory: LibTorch's own functions only compute sizes and strides.
  library.impl("view", &at::native::view);
  library.impl("as_strided", &at::native::as_strided_tensorimpl);
  library.impl("_reshape_alias", &at::native::_reshape_alias);
  // LibTorch passes the convolutions of an unknown device to the fallback only if the device registers them explicitly.
  library.impl("convolution", torch::CppFunction::makeFromBoxedFunction<&compute_on_cpu>());
  library.impl("convolution_backward", torch::CppFunction::makeFromBoxedFunction<&compute_on_cpu>());
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&compute_on_cpu>());
}

}  // namespace

Counters counters() { return {kernels, bytes_in, bytes_out}; }

}  // namespace xpu
