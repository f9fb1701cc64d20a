// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tensors/named_tensor.h"

namespace trainyard {

/// A part of a model that can be computed separately: on a rank of its own, or while the parameters of the other parts
/// are not in memory.
struct Stage {
  std::string name;                     ///< Such as "layers.0".
  std::vector<NamedTensor> parameters;  ///< The parameters that the stage uses. Several stages may share one.
  std::vector<NamedTensor> buffers;     ///< The buffers that the stage uses.

  /// Takes one tensor and returns one; the first dimension of both counts the samples. Must not change its input.
  std::function<at::Tensor(const at::Tensor& input)> forward;
};

/// Returns the tensors of `all` whose names begin with `prefix`, in the same order.
std::vector<NamedTensor> with_prefix(const std::vector<NamedTensor>& all, std::string_view prefix);

}  // namespace trainyard
