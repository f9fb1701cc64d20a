// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace trainyard::test_accelerator {

/// Returns a tensor for the processor over the bytes of a tensor on a test device, at the addresses at which kernels
/// access them. Only copies and kernels may use it. A tensor on the processor is returned as it is.
at::Tensor through_window(const at::Tensor& tensor);

/// Carries out an operation on tensors of a test device with the kernel for the processor, which works on the memory of
/// the device. So the results have the bits of the processor's, and no bytes cross the link.
///
/// As with a real device, the arguments must be on the same device; only scalars and the indices of index operations
/// may be on the processor.
void compute_through_window(const c10::OperatorHandle& op, torch::jit::Stack* stack);

}  // namespace trainyard::test_accelerator
