// SPDX-License-Identifier: Apache-2.0
#include "strategies/diloco/diloco.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros_like.h>

namespace trainyard {

void Diloco::synchronise(ArenaEdit& edit) {
  take_from_rank_0(edit);
  const at::Tensor& parameters = arena().parameters();
  anchor_ = parameters.to(c10::promoteTypes(parameters.scalar_type(), at::kFloat), /*non_blocking=*/false,
                          /*copy=*/true);
  velocity_ = at::zeros_like(anchor_);
}

/// Makes the step that torch.optim.SGD makes with nesterov=True.
void Diloco::unite(ArenaEdit& edit) {
  average(edit);
  at::Tensor gradient = anchor_ - edit.parameters();
  velocity_.mul_(*outer_momentum_).add_(gradient);
  gradient.add_(velocity_, *outer_momentum_);
  anchor_.sub_(gradient, *outer_lr_);
  edit.parameters().copy_(anchor_);
}

}  // namespace trainyard

TRAINYARD_STRATEGY(trainyard::Diloco, "diloco",
                   "Ranks step alone for long; an outer optimizer follows their mean, with momentum.")
