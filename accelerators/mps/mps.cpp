// SPDX-License-Identifier: Apache-2.0
#include "accelerators/mps/mps.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/MPSHooksInterface.h>

namespace trainyard {
namespace {

class MacGpu final : public ClaimedDevice {
 public:
  explicit MacGpu(const Accelerator& mps) : ClaimedDevice(mps, at::Device(at::kMPS, 0)) {}

  void synchronize() override { at::detail::getMPSHooks().deviceSynchronize(); }

  /// Returns "memory_bytes", the number of bytes that tensors on the GPU use.
  std::map<std::string, double> stats() const override {
    return {{"memory_bytes", static_cast<double>(at::detail::getMPSHooks().getCurrentAllocatedMemory())}};
  }

 protected:
  std::vector<at::Generator> generators() const override {
    return {at::detail::getDefaultCPUGenerator(), at::detail::getMPSHooks().getDefaultGenerator()};
  }
};

}  // namespace

FoundDevices Mps::find_devices() const {
  if (at::detail::getMPSHooks().hasMPS()) return {.count = 1, .problem = {}};
  return {.count = 0, .problem = "this LibTorch was built without MPS, or this is no Mac"};
}

AcceleratorTraits Mps::traits() const { return {.precisions = {"32-true"}, .host_memory = false, .auto_priority = 90}; }

std::unique_ptr<ClaimedDevice> Mps::open(int) const { return std::make_unique<MacGpu>(*this); }

}  // namespace trainyard

TRAINYARD_ACCELERATOR(trainyard::Mps, "mps", "The GPU of a Mac.")
