// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "models/model.h"

namespace trainyard::testing {

/// Converts the parameters and the buffers of a model to double precision. Tests that compare gradients of two ways of
/// computing use it: in single precision, the differences in rounding move some values across the kink of relu, which
/// changes gradients a lot.
inline void use_double_precision(Model& model) {
  for (const auto& tensors : {model.parameters(), model.buffers()}) {
    for (const NamedTensor& named : tensors) {
      if (named.tensor.is_floating_point()) named.tensor.set_data(named.tensor.to(at::kDouble));
    }
  }
}

}  // namespace trainyard::testing
