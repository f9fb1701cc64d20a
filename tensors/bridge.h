// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "messages/tensor.h"

namespace trainyard {

/// Returns a LibTorch tensor that uses the memory of `tensor`, a tensor of a message in host memory. The result keeps
/// the memory alive; nothing is copied. Throws kCorrupt if the buffer of `tensor` is too small for its shape.
at::Tensor view_of(const Tensor& tensor);

/// Returns a message tensor that uses the memory of `tensor`, a contiguous tensor on the CPU. The result keeps the
/// memory alive; nothing is copied. Throws kUnsupported for any other tensor.
Tensor message_of(const at::Tensor& tensor);

/// Returns the LibTorch type that corresponds to `dtype`. Throws kCorrupt for a value that is not a DType.
at::ScalarType scalar_type_of(DType dtype);
/// Returns the DType that corresponds to `type`. Throws kUnsupported if messages cannot carry this type.
DType dtype_of(at::ScalarType type);

}  // namespace trainyard
