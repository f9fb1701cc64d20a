#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace trainyard {

// Fresh parameters: float32 leaves on the CPU that require a gradient. Random ones are drawn from the default
// generator, which the accelerator host seeds before it builds the model.

/// Uniform in +-1/sqrt(fan_in), as torch.nn.Linear and Conv2d start their weights and biases.
at::Tensor uniform_parameter(const std::vector<std::int64_t>& shape, std::int64_t fan_in);

/// Normal with mean 0.
at::Tensor normal_parameter(const std::vector<std::int64_t>& shape, double standard_deviation);

at::Tensor constant_parameter(const std::vector<std::int64_t>& shape, double value);

}  // namespace trainyard
