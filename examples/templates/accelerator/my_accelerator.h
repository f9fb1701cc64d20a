// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "accelerators/accelerator.h"

namespace example {

/// An accelerator for hardware that LibTorch already supports; this example computes on the processor. For your
/// hardware, replace at::kCPU with its device type, and make find_devices() ask the driver.
class MyAccelerator final : public trainyard::Accelerator {
 public:
  explicit MyAccelerator(trainyard::AcceleratorContext& context) : Accelerator(context) {}

  /// Returns the number of devices on this host. Must be fast, and must not throw even if the hardware is missing.
  trainyard::FoundDevices find_devices() const override;

  /// Returns the rules that the hardware imposes, such as the supported precisions. Trainyard refuses launch files that
  /// violate a rule.
  trainyard::AcceleratorTraits traits() const override;

 protected:
  /// Opens device `index` for the calling thread, which computes on it.
  std::unique_ptr<trainyard::ClaimedDevice> open(int index) const override;

 private:
  trainyard::Parameter<std::int64_t> devices_{*this, "device_count", 2, "number of devices to simulate",
                                              trainyard::between(1, 64)};
};

}  // namespace example
