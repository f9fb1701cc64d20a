// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include <initializer_list>

#include "tensors/autocast.h"

namespace trainyard::fused {

/// Returns true if the fused kernels can process these tensors: all are contiguous and on the CPU, and all are float or
/// all are double. The first tensor must be defined; undefined tensors after it are ignored.
inline bool usable(std::initializer_list<const at::Tensor*> tensors) {
  const at::ScalarType type = (*tensors.begin())->scalar_type();
  if (type != at::kFloat && type != at::kDouble) return false;
  for (const at::Tensor* tensor : tensors) {
    if (!tensor->defined()) continue;
    if (!tensor->device().is_cpu() || !tensor->is_contiguous() || tensor->scalar_type() != type) return false;
  }
  return true;
}

/// Returns true if the fused bfloat16 kernels, which read and write bfloat16 but compute in float, can process the
/// tensor: it is bfloat16, contiguous and on the CPU.
inline bool usable_bfloat16(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kBFloat16 && tensor.device().is_cpu() && tensor.is_contiguous();
}

/// Returns true if matrix products on the CPU currently convert their inputs to bfloat16.
inline bool products_take_bfloat16() { return active_autocast(at::kCPU) == at::kBFloat16; }

/// Returns true if `width` is a positive multiple of 16. The fused kernels process vectors of 64 bytes: 16 floats fill
/// one vector and 16 doubles fill two, so the same condition suits both types.
inline bool whole_lanes(std::int64_t width) { return width > 0 && width % 16 == 0; }

}  // namespace trainyard::fused
