// SPDX-License-Identifier: Apache-2.0
#include "strategies/diloco/diloco.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/add.h>
#include <ATen/ops/zeros_like.h>

#include "messages/error.h"
#include "tensors/bridge.h"

namespace trainyard {

Diloco::Diloco(StrategyContext& context) : LocalSteps(context, 100) {
  if (*overlap_steps_ < every_steps()) return;
  throw Error(Code::kInvalidArgument, "{}: overlap_steps is {}, but must be less than every_steps, which is {}",
              where(), *overlap_steps_, every_steps());
}

void Diloco::synchronise(ArenaEdit& edit) {
  take_from_rank_0(edit);
  const at::Tensor& parameters = arena().parameters();
  anchor_ = parameters.to(c10::promoteTypes(parameters.scalar_type(), at::kFloat), /*non_blocking=*/false,
                          /*copy=*/true);
  velocity_ = at::zeros_like(anchor_);
  if (overlaps() || *compression_ != ChangeForm::kFull) allocate_exchange();
}

void Diloco::allocate_exchange() {
  if (exchange_) return;
  const at::ScalarType form = *compression_ == ChangeForm::kBf16 ? at::kBFloat16 : anchor_.scalar_type();
  exchange_ = std::make_unique<Exchange>(world(), anchor_, floating_buffers(), form);
}

/// If exchanges do not overlap, the ranks have united before a snapshot, and the anchor is what the arena holds. Only
/// in a type of fewer bits does something get lost there.
void Diloco::save_state(StateWriter& into) const {
  into.set("velocity", message_of(velocity_.to(at::kCPU, /*non_blocking=*/false, /*copy=*/true)));
  if (due_) {
    into.set("due", *due_);
    exchange_->save(into);
  }
  if (!overlaps() && !due_ && anchor_.scalar_type() == arena().parameters().scalar_type()) return;
  into.set("anchor", message_of(anchor_.to(at::kCPU, /*non_blocking=*/false, /*copy=*/true)));
}

void Diloco::restore_state(const StateReader& from) {
  const auto read = [&from](const char* name, at::Tensor& into) {
    into.copy_(view_of(from.tensor(name, dtype_of(into.scalar_type()), {into.numel()})));
  };
  read("velocity", velocity_);
  if (from.has("anchor")) read("anchor", anchor_);
  if (!from.has("due")) return;
  due_ = from.count("due");
  allocate_exchange();
  exchange_->restore(from);
}

/// Called before a snapshot and, if exchanges do not overlap, for every exchange. If they overlap, an exchange that is
/// under way stays so, but the checkpoint needs its result. A run that has resumed in the middle of an exchange may
/// have one although it makes no others that overlap.
void Diloco::unite(ArenaEdit& edit) {
  if (overlaps() || due_) {
    exchange_->wait();
    average(edit);
  } else if (exchange_) {
    begin_exchange(edit);
    end_exchange(edit, 0);
  } else {
    average(edit);
    make_outer_step(anchor_ - edit.parameters());
    edit.parameters().copy_(anchor_);
  }
}

void Diloco::exchange(std::uint64_t step, ArenaEdit& edit) {
  if (!overlaps()) return LocalSteps::exchange(step, edit);
  if (due_) end_overlapping_exchange(edit);  // Only a resumed run with a smaller `every_steps` gets here.
  const TraceSpan span(trace(), "begin exchange", SpanKind::kCollective);
  begin_exchange(edit);
  due_ = step + static_cast<std::uint64_t>(*overlap_steps_);
}

void Diloco::go_on(std::uint64_t step, ArenaEdit& edit) {
  if (!due_) return;
  world().progress();
  if (step >= *due_) end_overlapping_exchange(edit);
}

void Diloco::end_overlapping_exchange(ArenaEdit& edit) {
  const TraceSpan span(trace(), "end exchange", SpanKind::kCollective);
  end_exchange(edit, *local_share_);
  due_.reset();
}

void Diloco::begin_exchange(ArenaEdit& edit) { exchange_->begin(anchor_ - edit.parameters(), floating_buffers()); }

void Diloco::end_exchange(ArenaEdit& edit, double local_share) {
  exchange_->wait();
  make_outer_step(world().moved_to(anchor_.device(), exchange_->change()).to(anchor_.scalar_type()));
  const auto mix = [&](const at::Tensor& own, const at::Tensor& common) {
    at::Tensor(own).copy_(at::add(common, own - common, local_share));
  };
  mix(edit.parameters(), anchor_);
  const std::vector<at::Tensor> own = floating_buffers();
  for (std::size_t i = 0; i < own.size(); ++i) {
    mix(own[i], world().moved_to(own[i].device(), exchange_->buffers()[i]));
  }
}

/// Makes the step that torch.optim.SGD makes with nesterov=True. Changes `gradient`.
void Diloco::make_outer_step(at::Tensor gradient) {
  velocity_.mul_(*outer_momentum_).add_(gradient);
  gradient.add_(velocity_, *outer_momentum_);
  anchor_.sub_(gradient, *outer_lr_);
}

}  // namespace trainyard

TRAINYARD_STRATEGY(trainyard::Diloco, "diloco",
                   "Ranks make many steps alone; an outer optimizer with momentum then follows their mean.")
