// How Optimizer reads its parameters.

#include "components/optimizer/optimizer.h"
#include "messages/error.h"

namespace trainyard {
namespace {

/// Below this a float32 denominator could become zero, and padding would become 0 / 0.
constexpr double kSmallestEps = 1e-30;

}  // namespace

optimizer::Rule Optimizer::read_rule() const {
  if (betas_->size() != 2) {
    throw Error(Code::kInvalidArgument, "betas: {} numbers are not allowed; two numbers >= 0 and < 1", betas_->size());
  }
  if (*eps_ >= 0 && *eps_ < kSmallestEps) {
    throw Error(Code::kInvalidArgument, "eps: {} is not allowed; a number >= {}, or below 0 for torch's default", *eps_,
                kSmallestEps);
  }
  return {.name = *rule_,
          .momentum = *momentum_,
          .dampening = *dampening_,
          .nesterov = *nesterov_,
          .beta1 = betas_->at(0),
          .beta2 = betas_->at(1),
          .amsgrad = *amsgrad_,
          .alpha = *alpha_,
          .centered = *centered_,
          .lr_decay = *lr_decay_,
          .initial_accumulator_value = *initial_accumulator_value_,
          .eps = *eps_ < 0 ? optimizer::default_eps(*rule_) : *eps_,
          .maximize = *maximize_};
}

optimizer::ScheduleSettings Optimizer::read_schedule() const {
  if (*schedule_ == "one_cycle" && *cycle_momentum_ && *rule_ == "adagrad") {
    throw Error(Code::kInvalidArgument, "cycle_momentum = true needs a rule with momentum; rule = 'adagrad' has none");
  }
  const auto steps = [](const Parameter<std::int64_t>& parameter) { return static_cast<std::uint64_t>(*parameter); };
  return {.kind = *schedule_,
          .warmup_steps = steps(warmup_steps_),
          .min_lr = *min_lr_,
          .step_size = steps(step_size_),
          .gamma = *gamma_,
          .total_steps = steps(total_steps_),
          .pct_start = *pct_start_,
          .div_factor = *div_factor_,
          .final_div_factor = *final_div_factor_,
          .cycle_momentum = *cycle_momentum_,
          .base_momentum = *base_momentum_,
          .max_momentum = *max_momentum_};
}

optimizer::GroupSettings Optimizer::read_groups() const {
  optimizer::GroupSettings groups;
  groups.weight_decay = *weight_decay_ < 0 ? optimizer::default_weight_decay(*rule_) : *weight_decay_;
  groups.matrices_only = *weight_decay_on_ == "matrices";
  groups.no_decay = *no_decay_;
  for (const auto& text : *lr_scale_) groups.lr_scale.push_back(optimizer::parse_lr_scale(text));
  return groups;
}

}  // namespace trainyard
