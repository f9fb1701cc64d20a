// SPDX-License-Identifier: Apache-2.0
#include "accelerators/my_accelerator/my_accelerator.h"

namespace example {
namespace {

/// A device while a process uses it. The destructor is the place to release what the device needed.
class MyAcceleratorDevice final : public trainyard::ClaimedDevice {
 public:
  explicit MyAcceleratorDevice(const trainyard::Accelerator& accelerator)
      : ClaimedDevice(accelerator, at::Device(at::kCPU)) {}
};

}  // namespace

trainyard::FoundDevices MyAccelerator::find_devices() const {
  return {.count = static_cast<int>(*devices_), .problem = ""};
}

// With auto_priority 0, the accelerator is used only if a launch file names it.
trainyard::AcceleratorTraits MyAccelerator::traits() const { return {.precisions = {"32-true"}, .auto_priority = 0}; }

std::unique_ptr<trainyard::ClaimedDevice> MyAccelerator::open(int /*index*/) const {
  return std::make_unique<MyAcceleratorDevice>(*this);
}

}  // namespace example

TRAINYARD_ACCELERATOR(example::MyAccelerator, "my_accelerator", "Computes on the processor.")
