// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "devices/driver.h"

namespace trainyard {

/// NVIDIA's GPUs, through CUDA and without LibTorch.
class CudaDriver final : public devices::Driver {
 public:
  explicit CudaDriver(PluginContext& context) : Driver(context) {}

  std::unique_ptr<devices::Device> open(const std::string& uuid) override;
};

}  // namespace trainyard
