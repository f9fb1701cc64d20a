// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

namespace trainyard {

/// Gives `tensor` the memory, the device and the type of `data`, while all references to it, such as those held by a
/// model or by autograd, remain valid. The autograd history and `requires_grad` of `tensor` stay as they are.
///
/// This does what LibTorch's `set_data` does, but for every device: `set_data` refuses some changes of the device type
/// (ipu, xla, PrivateUse1). Throws kUnsupported if the tensors of the device are objects of a special C++ class,
/// because an ordinary tensor cannot take over the content of such an object.
void replace_data(const at::Tensor& tensor, const at::Tensor& data);

}  // namespace trainyard
