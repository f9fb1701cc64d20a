// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "accelerators/accelerator.h"

namespace trainyard {

/// NVIDIA's GPUs, through LibTorch.
///
/// Parameters  tf32         whether matrix products and convolutions of float32 may use TF32, which has 10 bits of
///                          precision instead of 23 and is several times as fast; default: false
///             cuda_graphs  whether the forward and backward passes of a batch are recorded as a CUDA graph, which is
///                          then replayed; default: false. This is done only in runs with one rank, and makes small
///                          models several times as fast. Set it only for models whose operations are the same in
///                          every step
class Cuda final : public Accelerator {
 public:
  explicit Cuda(AcceleratorContext& context) : Accelerator(context) {}

  FoundDevices find_devices() const override;
  AcceleratorTraits traits() const override;

 protected:
  std::unique_ptr<ClaimedDevice> open(int index) const override;

 private:
  Parameter<bool> tf32_{*this, "tf32", false, "matrix products and convolutions of float32 may use TF32"};
  Parameter<bool> cuda_graphs_{*this, "cuda_graphs", false,
                               "record the forward and backward pass of one rank as a CUDA graph, and repeat it"};
};

}  // namespace trainyard
