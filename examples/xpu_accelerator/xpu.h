// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "accelerators/accelerator.h"

namespace xpu {

/// An accelerator for an imaginary card with its own memory. It has two devices with 4 GiB each, and computes by
/// copying tensors to the host and back.
class Xpu final : public trainyard::Accelerator {
 public:
  explicit Xpu(trainyard::AcceleratorContext& context) : Accelerator(context) {}

  trainyard::FoundDevices find_devices() const override;
  trainyard::AcceleratorTraits traits() const override;

 protected:
  std::unique_ptr<trainyard::ClaimedDevice> open(int index) const override;
};

/// A device that this process uses. The class overrides functions only to count their calls; for a real device, the
/// default implementations are usually enough.
class Card final : public trainyard::ClaimedDevice {
 public:
  Card(const Xpu& xpu, int index);

  /// Writes the counters to the log.
  ~Card() override;

  void copy_block(at::Tensor to, const at::Tensor& from) override;

  /// Returns "memory_bytes", "peak_memory_bytes", "allocations", "kernels", "bytes_in" and "bytes_out". Also returns
  /// the number of batch tensors that were moved to the device, and the number of blocks that were copied in each
  /// direction.
  std::map<std::string, double> stats() const override;

 protected:
  std::vector<at::Tensor> move_batch(std::vector<at::Tensor> tensors) override;

 private:
  bool has(const at::Tensor& tensor) const;

  std::uint64_t batch_tensors_ = 0;
  std::uint64_t blocks_in_ = 0;
  std::uint64_t blocks_out_ = 0;
};

}  // namespace xpu
