#pragma once

#include <c10/cuda/CUDAStream.h>

#include <optional>
#include <vector>

#include "accelerators/accelerator.h"

namespace trainyard {

/// NVIDIA's GPUs, through LibTorch. Kernels of a rank run on a stream of their own; batches come through pinned memory
/// on a second one, so that a batch that is handed over early arrives while the step before it still computes.
class Cuda final : public Accelerator {
 public:
  explicit Cuda(AcceleratorContext& context) : Accelerator(context) {}

  bool is_available() const override { return device_count() > 0; }
  std::string problem() const override;
  int device_count() const override;
  AcceleratorTraits traits() const override;
  at::Device device(int index) const override { return {at::kCUDA, static_cast<c10::DeviceIndex>(index)}; }

  void tear_down() override;

  // The CPU's generator, from which models draw their parameters, and the GPU's.
  void seed(std::uint64_t seed) override;
  std::vector<std::uint8_t> rng_state() const override;
  void set_rng_state(const std::vector<std::uint8_t>& state) override;

  /// Returns when the batch is in pinned memory; whatever the compute stream is given next waits for its arrival.
  std::vector<at::Tensor> to_device(std::vector<at::Tensor> tensors) const override;

  void copy_block(at::Tensor to, const at::Tensor& from) const override;

  void synchronize() override;

  /// Host memory as other devices have it, page-locked, so that whole blocks are copied at the speed of the link.
  Buffer allocate_arena(std::size_t bytes) override;

  /// "memory_bytes" and "peak_memory_bytes" of tensors, "reserved_bytes" of LibTorch's pool.
  std::map<std::string, double> stats() const override;

 protected:
  void set_up(int index) override;

 private:
  std::vector<at::Generator> generators() const;

  std::optional<c10::cuda::CUDAStream> compute_;
  std::optional<c10::cuda::CUDAStream> copies_;
  std::vector<Buffer> locked_;
};

}  // namespace trainyard
