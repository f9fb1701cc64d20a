// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "tensors/arena.h"
#include "tensors/named_tensor.h"

namespace trainyard {

/// An emulation of autocast to float16 for the CPU before LibTorch 2.3, which has no float16 kernels for it.
///
/// The model computes in float32, but with weights that were rounded to float16. Each gradient of a weight is also
/// rounded to float16 before it is added to the arena. By this rounding, values of 65520 and more become infinite and
/// values below 2^-25 become zero, so loss scaling is needed as on a GPU. Activations are not rounded. This saves
/// neither time nor memory; its purpose is to test a `16-mixed` run without a GPU.
class HalfEmulation {
 public:
  /// Makes the model compute with rounded copies of `parameters`, which are in `arena`. The arena keeps the exact
  /// values.
  HalfEmulation(const std::vector<NamedTensor>& parameters, const Arena& arena);

  /// Copies the exact values to the model again, rounded. Must be called whenever the exact values have changed.
  void refresh();

 private:
  at::Tensor masters_;  ///< The arena's flat block, with the exact values.
  at::Tensor rounded_;  ///< A flat float32 block of the same layout, which the model sees.
};

}  // namespace trainyard
