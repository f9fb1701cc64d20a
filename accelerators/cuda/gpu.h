#pragma once

#include <c10/cuda/CUDAStream.h>

#include <vector>

#include "accelerators/claimed_device.h"

namespace trainyard::cuda {

/// One GPU. Kernels of a rank run on a stream of their own; batches come through pinned memory on a second one, so that
/// a batch that is handed over early arrives while the step before it still computes.
class Gpu final : public ClaimedDevice {
 public:
  Gpu(const Accelerator& cuda, int index);
  ~Gpu() override;

  /// Does not wait for what goes to the device.
  void copy_block(at::Tensor to, const at::Tensor& from) override;

  void synchronize() override;

  /// "memory_bytes" and "peak_memory_bytes" of tensors, "reserved_bytes" of LibTorch's pool.
  std::map<std::string, double> stats() const override;

 protected:
  /// Returns when the batch is in pinned memory; whatever the compute stream is given next waits for its arrival.
  std::vector<at::Tensor> move_batch(std::vector<at::Tensor> tensors) override;

  /// Page-locks the block, so that whole blocks are copied at the speed of the link.
  void prepare_host_block(const Buffer& block) override;

  /// Returns the CPU's generator, from which models draw their parameters, and the GPU's.
  std::vector<at::Generator> generators() const override;

 private:
  c10::cuda::CUDAStream compute_;
  c10::cuda::CUDAStream copies_;
  std::vector<Buffer> locked_;
};

}  // namespace trainyard::cuda
