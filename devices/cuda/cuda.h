// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "devices/driver.h"

namespace trainyard {

/// The device plugin for NVIDIA GPUs. It uses CUDA, but not LibTorch.
class CudaDriver final : public devices::Driver {
 public:
  explicit CudaDriver(PluginContext& context) : Driver(context) {}

  std::unique_ptr<devices::Device> open(const std::string& uuid) override;
};

}  // namespace trainyard
