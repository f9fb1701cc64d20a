#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include <initializer_list>

namespace trainyard::fused {

/// True if the kernels take these tensors: float or double, all alike, contiguous, on the CPU. Undefined ones are left
/// out. Under autocast that leaves to the kernels what stays in float32 (embeddings, norms); what comes out of a matrix
/// product has 16 bits there and goes to LibTorch.
inline bool usable(std::initializer_list<const at::Tensor*> tensors) {
  const at::ScalarType type = (*tensors.begin())->scalar_type();
  if (type != at::kFloat && type != at::kDouble) return false;
  for (const at::Tensor* tensor : tensors) {
    if (!tensor->defined()) continue;
    if (!tensor->device().is_cpu() || !tensor->is_contiguous() || tensor->scalar_type() != type) return false;
  }
  return true;
}

/// 16 floats are one lane vector, 16 doubles two: one rule for both.
inline bool whole_lanes(std::int64_t width) { return width > 0 && width % 16 == 0; }

}  // namespace trainyard::fused
