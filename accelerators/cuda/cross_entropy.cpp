// SPDX-License-Identifier: Apache-2.0
// Gives the cross entropy of the models a kernel on NVIDIA's GPUs; see tensors/fused/ops.h. It reads the logits once in
// the forward pass, and reads them and writes the gradient once in the backward pass. LibTorch's operations make
// several passes over tensors of this size.
#if TRAINYARD_CUDA_KERNELS

#include "accelerators/cuda/cross_entropy_kernel.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#include <torch/library.h>

#include <tuple>

#include "messages/error.h"

namespace trainyard::cuda {
namespace {

/// The caller passes only these types.
Logits type_of(const at::Tensor& logits) {
  if (logits.scalar_type() == at::kBFloat16) return Logits::kBFloat16;
  return logits.scalar_type() == at::kHalf ? Logits::kFloat16 : Logits::kFloat32;
}

void check(int error) {
  if (error == 0) return;
  throw Error(Code::kInternal, "the kernel of the cross entropy cannot be started: {}",
              cudaGetErrorString(static_cast<cudaError_t>(error)));
}

std::tuple<at::Tensor, at::Tensor> cross_entropy(const at::Tensor& logits_NV, const at::Tensor& target_N) {
  const c10::cuda::CUDAGuard guard(logits_NV.device());
  const at::TensorOptions floats = logits_NV.options().dtype(at::kFloat);
  const at::Tensor log_sums = at::empty({logits_NV.size(0)}, floats), losses = at::empty({logits_NV.size(0)}, floats);
  check(launch_cross_entropy(type_of(logits_NV), logits_NV.data_ptr(), target_N.data_ptr<std::int64_t>(),
                             logits_NV.size(0), logits_NV.size(1), log_sums.data_ptr<float>(), losses.data_ptr<float>(),
                             c10::cuda::getCurrentCUDAStream()));
  return {losses.mean(), log_sums};
}

at::Tensor cross_entropy_backward(const at::Tensor& factor, const at::Tensor& logits_NV, const at::Tensor& target_N,
                                  const at::Tensor& log_sums_N) {
  const c10::cuda::CUDAGuard guard(logits_NV.device());
  const at::Tensor gradient = at::empty_like(logits_NV);
  const at::Tensor factor_float = factor.to(at::kFloat);
  check(launch_cross_entropy_backward(type_of(logits_NV), logits_NV.data_ptr(), target_N.data_ptr<std::int64_t>(),
                                      logits_NV.size(0), logits_NV.size(1), log_sums_N.data_ptr<float>(),
                                      factor_float.data_ptr<float>(), gradient.data_ptr(),
                                      c10::cuda::getCurrentCUDAStream()));
  return gradient;
}

}  // namespace

TORCH_LIBRARY_IMPL(trainyard, CUDA, library) {
  library.impl("cross_entropy", &cross_entropy);
  library.impl("cross_entropy_backward", &cross_entropy_backward);
}

}  // namespace trainyard::cuda

#endif
