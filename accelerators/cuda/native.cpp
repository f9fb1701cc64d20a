// SPDX-License-Identifier: Apache-2.0
#include "accelerators/cuda/native.h"

#include <cuda_runtime_api.h>

#include <string>

#include "accelerators/native_device.h"
#include "devices/uuid.h"
#include "messages/error.h"

namespace trainyard::cuda {
namespace {

constexpr const char* kDevicePlugin = "cuda";

std::string uuid_of(int gpu) {
  cudaDeviceProp properties{};
  const cudaError_t result = cudaGetDeviceProperties(&properties, gpu);
  if (result == cudaSuccess) return devices::uuid_text(properties.uuid.bytes);
  cudaGetLastError();
  throw Error(Code::kInternal, "the properties of GPU {} cannot be read: {}", gpu, cudaGetErrorString(result));
}

}  // namespace

std::optional<NativeDevice> open_native(const PluginContext& context, int gpu, void* stream) {
  if (context.plugins == nullptr) return std::nullopt;  // In some tests.
  try {
    NativeDevice native = accelerators::open_native_device(context, kDevicePlugin, uuid_of(gpu), stream);
    native.device->make_fence();  // Every arena needs fences; where they are impossible, LibTorch's memory is used.
    return native;
  } catch (const Error& error) {
    context.log->warn(
        "{}: the device plugin '{}' cannot be used, so LibTorch allocates the memory of the parameters; an optimizer "
        "in another process must work in host memory (memory = \"host\"): {}",
        context.where, kDevicePlugin, error.what());
    return std::nullopt;
  }
}

}  // namespace trainyard::cuda
