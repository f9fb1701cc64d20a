#pragma once

#include <cstdint>

#include "accelerators/accelerator.h"

namespace xpu {

/// An imaginary card with memory of its own: two devices of 4 GiB, whose kernels are all still to be written.
class Xpu final : public trainyard::Accelerator {
 public:
  explicit Xpu(trainyard::AcceleratorContext& context) : Accelerator(context) {}

  std::vector<int> parse_devices(const std::string& request) const override;
  bool is_available() const override { return true; }
  int device_count() const override;
  trainyard::AcceleratorTraits traits() const override;
  at::Device device(int index) const override;
  std::string device_name(int index) const override;

  std::vector<at::Tensor> to_device(std::vector<at::Tensor> tensors) const override;
  void copy_block(at::Tensor to, const at::Tensor& from) const override;

  /// "memory_bytes", "peak_memory_bytes", "allocations", "kernels", "bytes_in", "bytes_out", and how often batches
  /// came, gradients left and parameters came as whole blocks.
  std::map<std::string, double> stats() const override;

  /// Says in the log what the device has done.
  void tear_down() override;

 protected:
  void set_up(int index) override;

 private:
  int index_ = 0;
  // Counted in const functions: moving a tensor does not change the device.
  mutable std::uint64_t batch_tensors_ = 0;
  mutable std::uint64_t blocks_in_ = 0;
  mutable std::uint64_t blocks_out_ = 0;
};

}  // namespace xpu
