// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "accelerators/accelerator.h"

namespace example {

/// Computes on the processor, and stands for hardware that LibTorch already knows. Replace at::kCPU with its device
/// type, and find_devices() with a question to its driver.
class MyAccelerator final : public trainyard::Accelerator {
 public:
  explicit MyAccelerator(trainyard::AcceleratorContext& context) : Accelerator(context) {}

  /// Says how many devices there are. It must be fast and must not throw, even where the hardware is missing.
  trainyard::FoundDevices find_devices() const override;

  /// Returns the rules of the hardware. Launch files that break one are refused.
  trainyard::AcceleratorTraits traits() const override;

 protected:
  /// Claims a device for the thread that computes.
  std::unique_ptr<trainyard::ClaimedDevice> open(int index) const override;

 private:
  trainyard::Parameter<std::int64_t> devices_{*this, "device_count", 2, "how many devices to pretend",
                                              trainyard::between(1, 64)};
};

}  // namespace example
