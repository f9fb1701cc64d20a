// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

namespace trainyard {

/// Gives `tensor` the memory, the device and the type of `data`, while all references to `tensor`, such as those held
/// by a model or by autograd, remain valid. The autograd history and `requires_grad` of `tensor` stay as they are.
///
/// This does what LibTorch's `set_data` does, but for every device: `set_data` refuses changes between some types of
/// devices, for example from the CPU to ipu, xla or PrivateUse1. Such a change works only if both tensors are plain
/// objects of c10::TensorImpl. If one is of a derived class, such as a sparse tensor, the function throws kUnsupported.
void replace_data(const at::Tensor& tensor, const at::Tensor& data);

}  // namespace trainyard
