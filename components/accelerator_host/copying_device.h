// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/TensorOperators.h>

#include <memory>
#include <utility>
#include <vector>

#include "accelerators/accelerator.h"

namespace trainyard::testing {

/// A device for tests that computes on the processor. With `own_memory`, it behaves like a device with separate memory
/// and copies every batch. It counts the batches that it receives.
class CopyingDevice final : public ClaimedDevice {
 public:
  CopyingDevice(const Accelerator& accelerator, bool own_memory)
      : ClaimedDevice(accelerator, at::Device(at::kCPU), "copying"), own_memory_(own_memory) {}

  int moved = 0;

 protected:
  std::vector<at::Tensor> move_batch(std::vector<at::Tensor> tensors) override {
    ++moved;
    if (!own_memory_) return tensors;
    for (at::Tensor& tensor : tensors) tensor = tensor.clone();
    return tensors;
  }

 private:
  bool own_memory_;
};

/// An accelerator with two devices of type CopyingDevice. Only the first one has separate memory.
class CopyingAccelerator final : public Accelerator {
 public:
  explicit CopyingAccelerator(AcceleratorContext context = context_of_test()) : Accelerator(context) {}

  FoundDevices find_devices() const override { return {.count = 2, .problem = {}}; }
  AcceleratorTraits traits() const override { return {}; }

 protected:
  std::unique_ptr<ClaimedDevice> open(int index) const override {
    return std::make_unique<CopyingDevice>(*this, /*own_memory=*/index == 0);
  }

 private:
  static AcceleratorContext context_of_test() {
    AcceleratorContext context;
    context.where = "accelerator 'copying'";
    context.parameters = "{}";
    return context;
  }
};

}  // namespace trainyard::testing
