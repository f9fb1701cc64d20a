// SPDX-License-Identifier: Apache-2.0
#include "accelerators/cuda/cuda.h"

#include <c10/cuda/CUDAFunctions.h>

#include "accelerators/cuda/gpu.h"

namespace trainyard {

FoundDevices Cuda::find_devices() const {
  const int count = c10::cuda::device_count();
  return {.count = count, .problem = count > 0 ? "" : "the CUDA driver finds no device"};
}

AcceleratorTraits Cuda::traits() const { return {.precisions = {"32-true"}, .host_memory = false, .auto_rank = 100}; }

std::unique_ptr<ClaimedDevice> Cuda::open(int index) const { return std::make_unique<cuda::Gpu>(*this, index); }

}  // namespace trainyard

TRAINYARD_ACCELERATOR(trainyard::Cuda, "cuda", "NVIDIA's GPUs.")
