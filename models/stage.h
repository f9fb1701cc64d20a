#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tensors/named_tensor.h"

namespace trainyard {

/// A part of a model that can be run by itself, on another rank or while the parameters of the others are elsewhere.
struct Stage {
  std::string name;                     ///< "layers.0"
  std::vector<NamedTensor> parameters;  ///< Of Model::parameters(). One may belong to several stages.
  std::vector<NamedTensor> buffers;     ///< Of Model::buffers().

  /// One tensor in, one out, both with the samples as first dimension. Does not change its input.
  std::function<at::Tensor(const at::Tensor& input)> forward;
};

/// Those of `all` whose names begin with `prefix`, in their order.
std::vector<NamedTensor> with_prefix(const std::vector<NamedTensor>& all, std::string_view prefix);

}  // namespace trainyard
