// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/driver_functions.h"

#include <cuda.h>
#include <dlfcn.h>

#include "messages/error.h"

namespace trainyard::cuda_device {
namespace {

// The second version of these functions needs no option of the driver's kernel module, unlike the first one.
constexpr const char* kWrite = "cuStreamWriteValue64_v2";
constexpr const char* kWait = "cuStreamWaitValue64_v2";

using Submit = CUresult(CUstream, CUdeviceptr, cuuint64_t, unsigned);
using GetDevice = CUresult(CUdevice*, int);
using GetAttribute = CUresult(int*, CUdevice_attribute, CUdevice);

/// Returns the driver's library, which stays loaded until the process ends, as it does in every process that uses CUDA.
void* library() {
  void* driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) throw Error(Code::kUnsupported, "there is no NVIDIA driver: {}", ::dlerror());
  return driver;
}

void* function(void* driver, const char* name) {
  void* found = ::dlsym(driver, name);
  if (found != nullptr) return found;
  throw Error(Code::kUnsupported, "the NVIDIA driver has no function {}; CUDA 11.7 or later is needed", name);
}

bool offers_waits(void* driver, int gpu) {
  auto* device_of = reinterpret_cast<GetDevice*>(function(driver, "cuDeviceGet"));
  auto* attribute_of = reinterpret_cast<GetAttribute*>(function(driver, "cuDeviceGetAttribute"));
  CUdevice device = 0;
  int offered = 0;
  return device_of(&device, gpu) == CUDA_SUCCESS &&
         attribute_of(&offered, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, device) == CUDA_SUCCESS &&
         offered != 0;
}

void submit(void* function, const char* name, void* stream, std::uint64_t address, std::uint64_t value,
            unsigned flags) {
  const CUresult result = reinterpret_cast<Submit*>(function)(static_cast<CUstream>(stream), address, value, flags);
  if (result == CUDA_SUCCESS) return;
  throw Error(Code::kInternal, "{} for the value {} failed with CUDA's error {}", name, value,
              static_cast<int>(result));
}

}  // namespace

void check_driver_is_there() { library(); }

DriverFunctions::DriverFunctions(int gpu) {
  void* driver = library();
  write_ = function(driver, kWrite);
  wait_ = function(driver, kWait);
  if (!offers_waits(driver, gpu)) {
    throw Error(Code::kUnsupported,
                "the NVIDIA driver does not let streams of GPU {} wait for 64-bit numbers in memory", gpu);
  }
}

void DriverFunctions::write(void* stream, std::uint64_t address, std::uint64_t value) const {
  submit(write_, kWrite, stream, address, value, CU_STREAM_WRITE_VALUE_DEFAULT);
}

void DriverFunctions::wait(void* stream, std::uint64_t address, std::uint64_t value) const {
  submit(wait_, kWait, stream, address, value, CU_STREAM_WAIT_VALUE_GEQ);
}

}  // namespace trainyard::cuda_device
