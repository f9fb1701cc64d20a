#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "tensors/arena.h"
#include "tensors/named_tensor.h"

namespace trainyard {

/// Stands in for autocast to float16 where LibTorch has no float16 kernels, which is on the CPU before 2.3.
///
/// The model computes in float32, but with weights that have been rounded to float16, and each gradient of a weight is
/// rounded to float16 before it is added to the arena. Values above 65504 become infinite there and values below 2^-25
/// become zero, so loss scaling meets the problems that it solves. Activations are not rounded. This saves neither time
/// nor memory: its purpose is to rehearse a run without the hardware.
class HalfEmulation {
 public:
  /// Gives the parameters, which lie in `arena`, rounded copies to compute with. The arena keeps the masters.
  HalfEmulation(const std::vector<NamedTensor>& parameters, const Arena& arena);

  /// Rounds the masters again. Must be called whenever they have changed.
  void refresh();

 private:
  at::Tensor masters_;  ///< The arena's flat block.
  at::Tensor rounded_;  ///< A flat float32 block of the same layout, which the model sees.
};

}  // namespace trainyard
