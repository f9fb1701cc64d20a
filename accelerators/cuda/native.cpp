// SPDX-License-Identifier: Apache-2.0
#include "accelerators/cuda/native.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "core/plugin/loader.h"
#include "devices/driver.h"
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

/// A device together with the driver, which must outlive it.
struct Opened {
  std::unique_ptr<devices::Driver> driver;
  std::unique_ptr<devices::Device> device;
};

std::shared_ptr<devices::Device> open(const PluginContext& context, int gpu) {
  PluginContext of_driver = context;
  of_driver.where = fmt::format("device '{}' of {}", kDevicePlugin, context.where);
  of_driver.parameters = "{}";
  const auto opened = std::make_shared<Opened>();
  opened->driver = context.plugins->create<devices::Driver>(kDevicePlugin, of_driver);
  opened->device = opened->driver->open(uuid_of(gpu));
  return {opened, opened->device.get()};
}

}  // namespace

std::optional<NativeDevice> open_native(const PluginContext& context, int gpu, void* stream) {
  if (context.plugins == nullptr) return std::nullopt;  // In some tests.
  try {
    NativeDevice native{open(context, gpu), nullptr};
    native.stream = native.device->adopt_stream("compute", stream);
    native.device->make_fence();  // Every arena needs fences; where they are impossible, LibTorch's memory is used.
    return native;
  } catch (const Error& error) {
    context.log->warn(
        "{}: the device plugin '{}' cannot be used, so LibTorch allocates the memory of the parameters; an optimizer "
        "in "
        "another process must work in host memory (memory = \"host\"): {}",
        context.where, kDevicePlugin, error.what());
    return std::nullopt;
  }
}

}  // namespace trainyard::cuda
