// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tensors/named_tensor.h"

namespace trainyard {

/// A part of a model, such as one layer, that can be computed separately: on a different rank than the other stages, or
/// while the parameters of the other stages are not in memory.
struct Stage {
  std::string name;                     ///< The name of the stage, for example "layers.0".
  std::vector<NamedTensor> parameters;  ///< The parameters that the stage uses. Stages may share parameters.
  std::vector<NamedTensor> buffers;     ///< The buffers that the stage uses.

  /// A function that computes the output of the stage from its input. The size of the first dimension of both tensors
  /// is the number of samples. The function must not change the input.
  std::function<at::Tensor(const at::Tensor& input)> forward;
};

/// Returns the tensors of `all` whose names begin with `prefix`, in the same order.
std::vector<NamedTensor> with_prefix(const std::vector<NamedTensor>& all, std::string_view prefix);

}  // namespace trainyard
