#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "tensors/arena.h"
#include "tensors/named_tensor.h"

namespace trainyard {

/// Stands in for autocast to float16 where LibTorch has no float16 kernels: on the CPU before 2.3.
///
/// The model computes in float32, but with weights that have been through float16, and each gradient of a weight goes
/// through float16 before it is added to the arena. What exceeds 65504 there becomes infinite and what is below 2^-25
/// becomes zero, so that loss scaling meets what it is made for. Activations are not rounded. It saves neither time nor
/// memory: it is for rehearsing a run without the hardware.
class HalfEmulation {
 public:
  /// Gives the parameters, which lie in `arena`, rounded copies to compute with; the arena keeps the masters.
  HalfEmulation(const std::vector<NamedTensor>& parameters, const Arena& arena);

  /// Rounds the masters again: to be called whenever they have changed.
  void refresh();

 private:
  at::Tensor masters_;  ///< Flat: the arena's.
  at::Tensor rounded_;  ///< Flat, float32, laid out alike: what the model sees.
};

}  // namespace trainyard
