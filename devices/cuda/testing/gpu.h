// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "devices/cuda/cuda.h"
#include "devices/uuid.h"

namespace trainyard::cuda_device {

/// Returns the UUID of the first GPU that this process sees; empty if there is none.
inline std::string first_gpu() {
  int count = 0;
  cudaDeviceProp properties{};
  const bool there =
      cudaGetDeviceCount(&count) == cudaSuccess && count > 0 && cudaGetDeviceProperties(&properties, 0) == cudaSuccess;
  cudaGetLastError();
  return there ? devices::uuid_text(properties.uuid.bytes) : "";
}

inline CudaDriver make_driver() {
  PluginContext context;
  context.where = "device 'cuda'";
  context.parameters = "{}";
  return CudaDriver(context);
}

/// A test that uses the first GPU. Without a GPU, it says that it is skipped.
class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string uuid = first_gpu();
    if (uuid.empty()) GTEST_SKIP() << "skipped: no device";
    device_ = driver_.open(uuid);
  }

  devices::Device& device() { return *device_; }

 private:
  CudaDriver driver_ = make_driver();
  std::unique_ptr<devices::Device> device_;
};

}  // namespace trainyard::cuda_device
