// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "accelerators/claimed_device.h"
#include "accelerators/simulated/rules.h"

namespace trainyard::simulated {

/// A device that the processor simulates. It computes with the processor's kernels, and additionally waits for the time
/// that transfers to the real device would take.
class RehearsedDevice final : public ClaimedDevice {
 public:
  RehearsedDevice(const Accelerator& accelerator, std::string name, const Rules& rules);

  /// Copies one flat block, and waits for the time that the link would need for its bytes.
  void copy_block(at::Tensor to, const at::Tensor& from) override;

  /// Returns "link_bytes", the number of bytes transferred, and "waited_seconds", the time spent waiting for transfers
  /// and for the beginning of steps.
  std::map<std::string, double> stats() const override;

 protected:
  /// Returns the batch after the time that the link would need for its bytes and the device would need to begin a step.
  std::vector<at::Tensor> move_batch(std::vector<at::Tensor> tensors) override;

 private:
  void wait(std::size_t bytes, double latency_us);

  double link_gb_per_s_;
  double step_latency_us_;
  double link_bytes_ = 0;
  double waited_seconds_ = 0;
};

}  // namespace trainyard::simulated
