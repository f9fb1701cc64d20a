// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/cuda/CUDAStream.h>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "accelerators/claimed_device.h"
#include "accelerators/cuda/graph_recorder.h"
#include "accelerators/cuda/nvml.h"
#include "tensors/mirrored_block.h"

namespace trainyard::cuda {

/// One GPU. The kernels of a rank run on one stream. Batches are copied through pinned memory on a second stream, so
/// that the next batch can be copied while the GPU still computes the previous step.
class Gpu final : public ClaimedDevice {
 public:
  /// `index` is the number of the GPU. If `record_steps` is false, recorder() returns null.
  Gpu(const Accelerator& cuda, int index, bool record_steps);
  ~Gpu() override;

  /// Copies one flat block. If the copy goes to the device, the function does not wait for it.
  void copy_block(at::Tensor to, const at::Tensor& from) override;

  /// Returns null if the device plugin `cuda` is missing or cannot be used; the log says why.
  const NativeDevice* native() const override { return native_ ? &*native_ : nullptr; }

  std::function<double()> read_later(const at::Tensor& scalar) override;

  WorkRecorder* recorder() override { return recorder_ ? &*recorder_ : nullptr; }

  void synchronize() override;

  /// Returns "memory_bytes" (the bytes that tensors and the arena use now), "peak_memory_bytes" (the most that they
  /// have used) and "reserved_bytes" (the size of LibTorch's memory pool). If NVML, the driver's library for
  /// measurements, is installed, also returns "utilisation_percent" (the share of the last second in which the GPU
  /// computed), "temperature_celsius", "power_watts" and "device_memory_bytes" (the memory that all programs on the GPU
  /// use).
  std::map<std::string, double> stats() const override;

 protected:
  /// Returns when the batch is in pinned memory. Kernels that are submitted to the compute stream afterwards wait until
  /// the batch has been copied to the device.
  std::vector<at::Tensor> move_batch(std::vector<at::Tensor> tensors) override;

  /// Page-locks the block, so that whole blocks are copied at the speed of the link.
  void prepare_host_block(const Buffer& block) override;

  /// Returns the CPU's generator, from which models draw their parameters, and the GPU's generator.
  std::vector<at::Generator> generators() const override;

 private:
  c10::cuda::CUDAStream compute_;
  c10::cuda::CUDAStream copies_;
  std::optional<NativeDevice> native_;
  std::vector<Buffer> locked_;
  Nvml nvml_;
  std::optional<GraphRecorder> recorder_;
};

}  // namespace trainyard::cuda
