// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "messages/tensor.h"

namespace trainyard {

/// Returns a LibTorch view of the bytes of `tensor`, which must be in host memory. The view keeps the buffer alive;
/// nothing is copied.
at::Tensor view_of(const Tensor& tensor);

/// Returns a message tensor over the memory of `tensor`, which must be contiguous and on the CPU. The result keeps the
/// memory alive; nothing is copied.
Tensor message_of(const at::Tensor& tensor);

at::ScalarType scalar_type_of(DType dtype);
DType dtype_of(at::ScalarType type);

}  // namespace trainyard
