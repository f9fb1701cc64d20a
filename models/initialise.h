// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace trainyard {

// Functions that make new parameters: float32 leaves on the CPU that require a gradient. Random values are drawn from
// LibTorch's default generator, which the accelerator host seeds before it builds the model.

/// Returns a parameter whose elements are drawn uniformly from +-1/sqrt(fan_in), as torch.nn.Linear and Conv2d do for
/// their weights and biases.
at::Tensor uniform_parameter(const std::vector<std::int64_t>& shape, std::int64_t fan_in);

/// Returns a parameter whose elements are drawn from the normal distribution with mean 0.
at::Tensor normal_parameter(const std::vector<std::int64_t>& shape, double standard_deviation);

/// Returns a parameter whose elements are all `value`.
at::Tensor constant_parameter(const std::vector<std::int64_t>& shape, double value);

}  // namespace trainyard
