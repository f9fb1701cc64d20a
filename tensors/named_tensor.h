// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace trainyard {

/// A tensor of a model, with its name in checkpoints.
struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

}  // namespace trainyard
