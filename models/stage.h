// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tensors/named_tensor.h"

namespace trainyard {

/// A part of a model that can be computed separately: on its own rank, or while the parameters of the other parts are
/// not in memory.
struct Stage {
  std::string name;                     ///< "layers.0"
  std::vector<NamedTensor> parameters;  ///< The parameters that it uses. Several stages may share one.
  std::vector<NamedTensor> buffers;     ///< The buffers that it uses.

  /// Takes one tensor and returns one; the first dimension of both is the samples. It does not change its input.
  std::function<at::Tensor(const at::Tensor& input)> forward;
};

/// Returns the tensors of `all` whose names begin with `prefix`, in the same order.
std::vector<NamedTensor> with_prefix(const std::vector<NamedTensor>& all, std::string_view prefix);

}  // namespace trainyard
