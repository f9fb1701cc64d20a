#pragma once

#include <ATen/core/Tensor.h>

#include "strategies/local_steps.h"

namespace trainyard {

/// DiLoCo: ranks step alone for long; then the way that they have gone on average is the gradient of an outer
/// optimizer, SGD with Nesterov momentum, whose parameters (the anchor) all of them go on from.
///
/// Anchor and outer momentum are the same on every rank and are kept on each: twice the memory of the parameters. They
/// are not part of checkpoints: a resumed run begins with the restored parameters as its anchor and without momentum.
/// The inner optimizer's state stays with its rank.
///
/// Source: Douillard et al., "DiLoCo: Distributed Low-Communication Training of Language Models" (2023).
class Diloco final : public LocalSteps {
 public:
  explicit Diloco(StrategyContext& context) : LocalSteps(context, 100) {}

 protected:
  void synchronise(ArenaEdit& edit) override;
  void unite(ArenaEdit& edit) override;

 private:
  Parameter<double> outer_lr_{*this, "outer_lr", 0.7, "step of the outer optimizer", positive()};
  Parameter<double> outer_momentum_{*this, "outer_momentum", 0.9, "weight of the outer optimizer's last steps",
                                    between(0, 1)};

  // Float32 at least, as long as the block of parameters.
  at::Tensor anchor_;
  at::Tensor velocity_;
};

}  // namespace trainyard
