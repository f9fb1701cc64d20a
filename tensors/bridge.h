// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "messages/tensor.h"

namespace trainyard {

/// Returns a LibTorch view on the bytes of `tensor`. It keeps the buffer alive and copies nothing. The buffer must lie
/// in host memory.
at::Tensor view_of(const Tensor& tensor);

/// Returns a message tensor over the memory of `tensor`, which must be contiguous and on the CPU and which it keeps
/// alive. It copies nothing.
Tensor message_of(const at::Tensor& tensor);

at::ScalarType scalar_type_of(DType dtype);
DType dtype_of(at::ScalarType type);

}  // namespace trainyard
