// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "accelerators/accelerator.h"

namespace example {

/// An accelerator that computes on the processor, as an example of hardware that LibTorch already supports. For other
/// hardware, replace at::kCPU with its device type, and let find_devices() ask its driver.
class MyAccelerator final : public trainyard::Accelerator {
 public:
  explicit MyAccelerator(trainyard::AcceleratorContext& context) : Accelerator(context) {}

  /// Returns the devices that were found. It must be fast, and must not throw even if the hardware is missing.
  trainyard::FoundDevices find_devices() const override;

  /// Returns the rules of the hardware. Launch files that violate a rule are refused.
  trainyard::AcceleratorTraits traits() const override;

 protected:
  /// Claims a device for the thread that computes.
  std::unique_ptr<trainyard::ClaimedDevice> open(int index) const override;

 private:
  trainyard::Parameter<std::int64_t> devices_{*this, "device_count", 2, "how many devices to pretend",
                                              trainyard::between(1, 64)};
};

}  // namespace example
