// SPDX-License-Identifier: Apache-2.0
#include "models/initialise.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

#include <cmath>

namespace trainyard {

at::Tensor uniform_parameter(const std::vector<std::int64_t>& shape, std::int64_t fan_in) {
  const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
  return at::empty(shape, at::kFloat).uniform_(-bound, bound).set_requires_grad(true);
}

at::Tensor normal_parameter(const std::vector<std::int64_t>& shape, double standard_deviation) {
  return at::empty(shape, at::kFloat).normal_(0, standard_deviation).set_requires_grad(true);
}

at::Tensor constant_parameter(const std::vector<std::int64_t>& shape, double value) {
  return at::full(shape, value, at::kFloat).set_requires_grad(true);
}

}  // namespace trainyard
