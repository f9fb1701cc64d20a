// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strategies/replica_strategy.h"

namespace trainyard {

/// Data parallel training in one process: every rank is a thread with its own device, the whole model and a part of the
/// data. Gradients are averaged after the backward pass. Use this strategy if several processes would need too much
/// memory or are not allowed.
class Dp final : public ReplicaStrategy {
 public:
  explicit Dp(StrategyContext& context) : ReplicaStrategy(context) {}

  StrategyTraits traits() const override { return {.share = RanksShare::kProcess}; }

 protected:
  Work reduce(const Bucket& /*bucket*/, const at::Tensor& gradients) override {
    return world().all_reduce(gradients, ReduceOp::kMean);
  }
};

}  // namespace trainyard
