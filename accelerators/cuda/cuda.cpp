// SPDX-License-Identifier: Apache-2.0
#include "accelerators/cuda/cuda.h"

#include <ATen/Context.h>
#include <c10/cuda/CUDAFunctions.h>
#include <cuda_runtime_api.h>

#include "accelerators/cuda/gpu.h"
#include "tensors/precision.h"

namespace trainyard {

FoundDevices Cuda::find_devices() const {
  const int count = c10::cuda::device_count();
  return {.count = count, .problem = count > 0 ? "" : "the CUDA driver finds no device"};
}

AcceleratorTraits Cuda::traits() const {
  AcceleratorTraits traits{.precisions = precision_names(),
                           .host_memory = false,
                           .shares_memory_by = TRAINYARD_CUDA_DEVICE ? "cuda" : "",
                           .auto_priority = 100};
  constexpr int kFirstWithBFloat16 = 8;  // Compute capability 8.0, Ampere.
  int major = 0;
  if (is_available() && cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0) == cudaSuccess &&
      major >= kFirstWithBFloat16) {
    traits.auto_precision = "bf16-mixed";
    traits.auto_precision_reason = "this GPU multiplies bfloat16 numbers";
  } else {
    traits.auto_precision_reason = "no GPU that multiplies bfloat16 numbers was found";
  }
  return traits;
}

std::unique_ptr<ClaimedDevice> Cuda::open(int index) const {
  at::globalContext().setFloat32MatmulPrecision(*tf32_ ? "high" : "highest");
  at::globalContext().setAllowTF32CuDNN(*tf32_);
  return std::make_unique<cuda::Gpu>(*this, index, *cuda_graphs_);
}

}  // namespace trainyard

TRAINYARD_ACCELERATOR(trainyard::Cuda, "cuda", "NVIDIA's GPUs.")
