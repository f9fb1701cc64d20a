// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <type_traits>

#include "messages/half.h"

namespace trainyard::fused {

/// The number types of a kernel, which computes in `Arithmetic`. `Stored` is the type of the tensors that come from a
/// matrix product or go to one.
template <class A, class S>
struct KernelTypes {
  using Arithmetic = A;
  using Stored = S;
};

/// Calls `work` with the KernelTypes for tensors of `type`, which must be double, float or bfloat16. For bfloat16,
/// kernels compute in float.
template <class Work>
void with_kernel_types(at::ScalarType type, const Work& work) {
  if (type == at::kDouble) {
    work(KernelTypes<double, double>());
  } else if (type == at::kBFloat16) {
    work(KernelTypes<float, BFloat16>());
  } else {
    work(KernelTypes<float, float>());
  }
}

/// Returns the type in which a kernel computes on tensors of `type`.
inline at::ScalarType arithmetic_type(at::ScalarType type) { return type == at::kBFloat16 ? at::kFloat : type; }

/// Returns the address of the elements of a tensor, which must have the type T, or null if the tensor is undefined.
template <class T>
T* numbers(const at::Tensor& tensor) {
  if (!tensor.defined()) return nullptr;
  if constexpr (std::is_same_v<T, BFloat16>) {
    return reinterpret_cast<BFloat16*>(tensor.data_ptr<at::BFloat16>());
  } else {
    return tensor.data_ptr<T>();
  }
}

}  // namespace trainyard::fused
