// SPDX-License-Identifier: Apache-2.0
#include "strategies/diloco/diloco.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros_like.h>

#include "tensors/bridge.h"

namespace trainyard {

void Diloco::synchronise(ArenaEdit& edit) {
  take_from_rank_0(edit);
  const at::Tensor& parameters = arena().parameters();
  anchor_ = parameters.to(c10::promoteTypes(parameters.scalar_type(), at::kFloat), /*non_blocking=*/false,
                          /*copy=*/true);
  velocity_ = at::zeros_like(anchor_);
}

/// Before a checkpoint is saved, unite() makes the parameters equal to the anchor, so the anchor need not be saved.
/// Only if the parameters have fewer bits than the anchor, it is saved, too.
void Diloco::save_state(StateWriter& into) const {
  into.set("velocity", message_of(velocity_.to(at::kCPU, /*non_blocking=*/false, /*copy=*/true)));
  if (anchor_.scalar_type() == arena().parameters().scalar_type()) return;
  into.set("anchor", message_of(anchor_.to(at::kCPU, /*non_blocking=*/false, /*copy=*/true)));
}

void Diloco::restore_state(const StateReader& from) {
  const auto read = [&from](const char* name, at::Tensor& into) {
    into.copy_(view_of(from.tensor(name, dtype_of(into.scalar_type()), {into.numel()})));
  };
  read("velocity", velocity_);
  if (from.has("anchor")) read("anchor", anchor_);
}

/// Makes the same step as torch.optim.SGD with nesterov=True.
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
                   "Ranks make many steps alone; an outer optimizer with momentum then follows their mean.")
