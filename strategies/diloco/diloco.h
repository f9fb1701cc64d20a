// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "strategies/local_steps.h"

namespace trainyard {

/// DiLoCo: every rank makes many steps alone, with its own (inner) optimizer. Then the mean of the ranks' changes to
/// the parameters serves as the gradient of an outer optimizer, SGD with Nesterov momentum. All ranks continue with the
/// parameters of the outer optimizer, which are called the anchor.
///
/// The anchor and the outer momentum are the same on every rank. Each rank keeps both, which takes twice the memory of
/// the parameters, or more if the parameters have 16 bits. A checkpoint contains the momentum, and the anchor as the
/// parameters. The state of the inner optimizers is not exchanged.
///
/// Source: Douillard et al., "DiLoCo: Distributed Low-Communication Training of Language Models" (2023).
class Diloco final : public LocalSteps {
 public:
  explicit Diloco(StrategyContext& context) : LocalSteps(context, 100) {}

  void save_state(StateWriter& into) const override;
  void restore_state(const StateReader& from) override;

 protected:
  void synchronise(ArenaEdit& edit) override;
  void unite(ArenaEdit& edit) override;

 private:
  Parameter<double> outer_lr_{*this, "outer_lr", 0.7, "learning rate of the outer optimizer", positive()};
  Parameter<double> outer_momentum_{*this, "outer_momentum", 0.9, "momentum of the outer optimizer", between(0, 1)};

  // Both tensors have one element for each parameter element, in float32 or, if the parameters have it, a wider type.
  at::Tensor anchor_;
  at::Tensor velocity_;
};

}  // namespace trainyard
