// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

namespace trainyard {

/// Gives `tensor` the memory, the device and the type of `data`, while all references to `tensor` (in a model or in
/// autograd) remain valid. The autograd history and `requires_grad` of `tensor` do not change.
///
/// This does what LibTorch's `set_data` does, but for every device: LibTorch's own refuses to change between device
/// types that are not on its list (ipu, xla, PrivateUse1). Throws kUnsupported if the device's tensors have a special
/// C++ class, because an ordinary tensor cannot adopt their content.
void replace_data(const at::Tensor& tensor, const at::Tensor& data);

}  // namespace trainyard
