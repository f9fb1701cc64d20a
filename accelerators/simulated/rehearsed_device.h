// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "accelerators/claimed_device.h"
#include "accelerators/simulated/rules.h"

namespace trainyard::simulated {

/// A simulated device. It computes on the processor, and additionally waits for as long as transfers to the real device
/// would take.
class RehearsedDevice final : public ClaimedDevice {
 public:
  RehearsedDevice(const Accelerator& accelerator, std::string name, const Rules& rules);

  /// Copies one flat block, and waits for as long as the link to the real device would need for the bytes.
  void copy_block(at::Tensor to, const at::Tensor& from) override;

  /// Returns "link_bytes", the number of bytes transferred, and "waited_seconds", the time spent waiting for transfers
  /// and for the beginning of steps.
  std::map<std::string, double> stats() const override;

 protected:
  /// Returns the tensors unchanged, after waiting for as long as the link to the real device would need for the bytes,
  /// plus the time that the device needs to begin a step.
  std::vector<at::Tensor> move_batch(std::vector<at::Tensor> tensors) override;

 private:
  void wait(std::size_t bytes, double latency_us);

  double link_gb_per_s_;
  double step_latency_us_;
  double link_bytes_ = 0;
  double waited_seconds_ = 0;
};

}  // namespace trainyard::simulated
