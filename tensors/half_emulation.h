// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "tensors/arena.h"
#include "tensors/named_tensor.h"

namespace trainyard {

/// A substitute for autocast to float16 where LibTorch has no float16 kernels, that is, on the CPU before LibTorch 2.3.
///
/// The model computes in float32, but with weights that were rounded to float16. Each gradient of a weight is also
/// rounded to float16 before it is added up. This rounding turns absolute values of 65520 and more into infinity, and
/// absolute values of 2^-25 and less into zero, so loss scaling is needed as on a GPU. Activations are not rounded. The
/// emulation saves neither time nor memory; its purpose is to test a `16-mixed` run without a GPU.
class HalfEmulation {
 public:
  /// Makes the model compute with rounded copies of `parameters`, which must be float32 tensors in `arena`. The arena
  /// still contains the exact values, which the optimizer updates.
  HalfEmulation(const std::vector<NamedTensor>& parameters, const Arena& arena);

  /// Rounds the exact values again, and copies the rounded values to the model. The caller must call this function
  /// whenever the exact values have changed, that is, after every update.
  void refresh();

 private:
  at::Tensor masters_;  ///< The arena's flat block of parameters, with the exact values.
  at::Tensor rounded_;  ///< A flat float32 block of the same layout, which the model sees.
};

}  // namespace trainyard
