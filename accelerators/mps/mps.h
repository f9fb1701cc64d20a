// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "accelerators/accelerator.h"

namespace trainyard {

/// The GPU of a Mac, through LibTorch. There is one device, and it does not support double precision.
class Mps final : public Accelerator {
 public:
  explicit Mps(AcceleratorContext& context) : Accelerator(context) {}

  FoundDevices find_devices() const override;
  AcceleratorTraits traits() const override;

 protected:
  std::unique_ptr<ClaimedDevice> open(int index) const override;
};

}  // namespace trainyard
