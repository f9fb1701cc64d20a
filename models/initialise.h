// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace trainyard {

// Functions that make the initial parameters of a model. A parameter is a float32 leaf tensor on the CPU that requires
// a gradient. Random values come from LibTorch's default CPU generator, which has been seeded when Model::build() is
// called.

/// Returns a parameter whose elements are drawn uniformly from the interval [-1/sqrt(fan_in), 1/sqrt(fan_in)]. `fan_in`
/// is the number of input values from which the layer computes one output value. torch.nn.Linear and Conv2d initialise
/// their weights and biases in the same way.
at::Tensor uniform_parameter(const std::vector<std::int64_t>& shape, std::int64_t fan_in);

/// Returns a parameter whose elements are drawn from the normal distribution with mean 0 and the given standard
/// deviation.
at::Tensor normal_parameter(const std::vector<std::int64_t>& shape, double standard_deviation);

/// Returns a parameter whose elements are all `value`.
at::Tensor constant_parameter(const std::vector<std::int64_t>& shape, double value);

}  // namespace trainyard
