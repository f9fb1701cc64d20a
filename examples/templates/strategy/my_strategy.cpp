// SPDX-License-Identifier: Apache-2.0
#include "strategies/my_strategy/my_strategy.h"

namespace example {

trainyard::Work MyStrategy::reduce(const trainyard::Bucket& /*bucket*/, const at::Tensor& gradients) {
  return world().all_reduce(gradients, trainyard::ReduceOp::kMean);
}

void MyStrategy::finish(const trainyard::Bucket& /*bucket*/, const at::Tensor& gradients) {
  if (*factor_ != 1) gradients.mul_(*factor_);
}

}  // namespace example

TRAINYARD_STRATEGY(example::MyStrategy, "my_strategy", "Ranks average their gradients.")
