// SPDX-License-Identifier: Apache-2.0
#include "accelerators/cuda/cuda.h"

#include <ATen/Context.h>
#include <c10/cuda/CUDAFunctions.h>

#include "accelerators/cuda/gpu.h"
#include "tensors/precision.h"

namespace trainyard {

FoundDevices Cuda::find_devices() const {
  const int count = c10::cuda::device_count();
  return {.count = count, .problem = count > 0 ? "" : "the CUDA driver finds no device"};
}

AcceleratorTraits Cuda::traits() const {
  return {.precisions = precision_names(), .host_memory = false, .auto_rank = 100};
}

std::unique_ptr<ClaimedDevice> Cuda::open(int index) const {
  at::globalContext().setFloat32MatmulPrecision(*tf32_ ? "high" : "highest");
  at::globalContext().setAllowTF32CuDNN(*tf32_);
  return std::make_unique<cuda::Gpu>(*this, index, *cuda_graphs_);
}

}  // namespace trainyard

TRAINYARD_ACCELERATOR(trainyard::Cuda, "cuda", "NVIDIA's GPUs.")
