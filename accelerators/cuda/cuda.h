// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "accelerators/accelerator.h"

namespace trainyard {

/// NVIDIA's GPUs, through LibTorch.
class Cuda final : public Accelerator {
 public:
  explicit Cuda(AcceleratorContext& context) : Accelerator(context) {}

  FoundDevices find_devices() const override;
  AcceleratorTraits traits() const override;

 protected:
  std::unique_ptr<ClaimedDevice> open(int index) const override;
};

}  // namespace trainyard
