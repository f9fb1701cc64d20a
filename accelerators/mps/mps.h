#pragma once

#include <vector>

#include "accelerators/accelerator.h"

namespace trainyard {

/// The GPU of a Mac, through LibTorch. There is one, and it has no double precision.
class Mps final : public Accelerator {
 public:
  explicit Mps(AcceleratorContext& context) : Accelerator(context) {}

  bool is_available() const override { return device_count() > 0; }
  std::string problem() const override;
  int device_count() const override;
  AcceleratorTraits traits() const override;
  at::Device device(int) const override { return {at::kMPS, 0}; }

  // The CPU's generator, from which models draw their parameters, and the GPU's.
  void seed(std::uint64_t seed) override;
  std::vector<std::uint8_t> rng_state() const override;
  void set_rng_state(const std::vector<std::uint8_t>& state) override;

  void synchronize() override;

  /// "memory_bytes" of tensors.
  std::map<std::string, double> stats() const override;

 protected:
  void set_up(int) override {}

 private:
  std::vector<at::Generator> generators() const;
};

}  // namespace trainyard
