// SPDX-License-Identifier: Apache-2.0
// Registers the operations on tensors of test devices with LibTorch. Making tensors, viewing them with another shape
// and copying them is implemented here. All other operations use the kernels of the processor.
#include <ATen/EmptyTensor.h>
#include <ATen/ops/_local_scalar_dense.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include "tests/test_accelerator/backend.h"
#include "tests/test_accelerator/card.h"
#include "tests/test_accelerator/torch_versions.h"
#include "tests/test_accelerator/window_call.h"

namespace trainyard::test_accelerator {
namespace {

constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

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

/// Copies between host and device and within the device, with changes of type and layout.
at::Tensor copy_from(const at::Tensor& self, const at::Tensor& to, bool) {
  if (to.numel() == 0) return to;
  const auto copy = [&] { through_window(to).copy_(through_window(self)); };
  if (self.is_cpu()) {
    Card::of(to.device().index())->copy_over_link(test_device::kToDevice, self.nbytes(), copy);
  } else if (to.is_cpu()) {
    Card::of(self.device().index())->copy_over_link(test_device::kToHost, self.nbytes(), copy);
  } else {
    copy();
  }
  return to;
}

at::Tensor copy_from_and_resize(const at::Tensor& self, const at::Tensor& to) {
  if (self.sizes() != to.sizes()) to.resize_(self.sizes());
  return copy_from(self, to, false);
}

/// Reads a number, which `item()` returns. The number crosses the link.
at::Scalar read_number(const at::Tensor& self) {
  at::Scalar number;
  Card::of(self.device().index())->copy_over_link(test_device::kToHost, self.itemsize(), [&] {
    number = at::_local_scalar_dense(through_window(self));
  });
  return number;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("empty.memory_format", &empty);
  library.impl("empty_strided", &empty_strided);
  library.impl("_copy_from", &copy_from);
  library.impl("_copy_from_and_resize", &copy_from_and_resize);
  library.impl("_local_scalar_dense", &read_number);
  // Views do not access the memory: LibTorch's own functions only compute sizes and strides.
  library.impl("view", &at::native::view);
  library.impl("as_strided", &at::native::as_strided_tensorimpl);
  library.impl("_reshape_alias", &at::native::_reshape_alias);
  // LibTorch looks for kernels of the device for convolutions, unless these two are registered.
  library.impl("convolution", torch::CppFunction::makeFromBoxedFunction<&compute_through_window>());
  library.impl("convolution_backward", torch::CppFunction::makeFromBoxedFunction<&compute_through_window>());
}

/// Registers compute_through_window for every other operation that has a kernel for the processor. LibTorch would
/// replace some of these operations by others on an unknown device, with other roundings, and refuse some.
TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (name.name.rfind("aten::", 0) != 0) continue;
    const auto op = c10::Dispatcher::singleton().findOp(name);
    if (!op || !op->hasSchema() || !op->hasKernelForDispatchKey(c10::DispatchKey::CPU)) continue;
    if (op->hasKernelForDispatchKey(c10::DispatchKey::PrivateUse1)) continue;
    const std::string local = name.name.substr(6) + (name.overload_name.empty() ? "" : "." + name.overload_name);
    library.impl(local.c_str(), torch::CppFunction::makeFromBoxedFunction<&compute_through_window>());
  }
}

}  // namespace
}  // namespace trainyard::test_accelerator
