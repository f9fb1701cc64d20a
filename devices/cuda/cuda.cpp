// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/cuda.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "devices/cuda/calls.h"
#include "devices/cuda/cuda_device.h"
#include "devices/cuda/driver_functions.h"
#include "devices/uuid.h"
#include "messages/error.h"
#include "messages/printable.h"

namespace trainyard {
namespace {

/// Returns the number of GPUs that this process sees. Throws kUnsupported if there is no driver for them.
int gpus() {
  cuda_device::check_driver_is_there();
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  if (result == cudaSuccess) return count;
  cudaGetLastError();
  if (result == cudaErrorNoDevice) return 0;
  throw Error(Code::kUnsupported, "CUDA cannot be used: {} ({})", cudaGetErrorString(result), cudaGetErrorName(result));
}

cudaDeviceProp properties_of(int gpu) {
  cudaDeviceProp properties{};
  cuda_device::check(cudaGetDeviceProperties(&properties, gpu), "cudaGetDeviceProperties",
                     fmt::format("the properties of GPU {}", gpu));
  return properties;
}

}  // namespace

std::unique_ptr<devices::Device> CudaDriver::open(const std::string& uuid) {
  const int count = gpus();
  std::string seen;
  for (int gpu = 0; gpu < count; ++gpu) {
    const cudaDeviceProp properties = properties_of(gpu);
    const std::string found = devices::uuid_text(properties.uuid.bytes);
    if (found == uuid) {
      return std::make_unique<cuda_device::CudaDevice>(uuid, gpu, fmt::format("GPU {} ({})", gpu, properties.name));
    }
    seen += fmt::format("{}{} ({})", seen.empty() ? "" : ", ", found, properties.name);
  }
  throw Error(Code::kNotFound, "{}: this process sees no GPU '{}'; it sees: {}", context().where, printable(uuid),
              seen.empty() ? "none" : seen);
}

}  // namespace trainyard

TRAINYARD_DEVICE(trainyard::CudaDriver, "cuda", "NVIDIA's GPUs, without LibTorch.")
