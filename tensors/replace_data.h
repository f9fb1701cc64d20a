// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

namespace trainyard {

/// Gives `tensor` the memory, the device and the type of `data`, while all references to it, such as those held by a
/// model or by autograd, remain valid. The autograd history and `requires_grad` of `tensor` stay as they are.
///
/// This does what LibTorch's `set_data` does, but for every device: LibTorch's own refuses to change between device
/// types that are not on its list (ipu, xla, PrivateUse1). Throws kUnsupported if the device's tensors have a C++ class
/// of their own, because such a tensor cannot become the content of an ordinary one.
void replace_data(const at::Tensor& tensor, const at::Tensor& data);

}  // namespace trainyard
