// SPDX-License-Identifier: Apache-2.0
#include "components/optimizer/rule.h"

#include <cmath>

#include "messages/error.h"

namespace trainyard::optimizer {
namespace {

bool is_adam(const Rule& rule) { return rule.kind == RuleKind::kAdam || rule.kind == RuleKind::kAdamW; }

using Exact = Coefficients<double>;

void set_sgd(Exact& c, const Rule& rule, const StepInputs& inputs) {
  c.decay1 = inputs.momentum.value_or(rule.momentum);
  // As in torch, the first gradient is stored in the momentum buffer without dampening.
  c.gain1 = inputs.step == 1 ? 1 : 1 - rule.dampening;
}

void set_adam(Exact& c, const Rule& rule, const StepInputs& inputs) {
  const auto step = static_cast<double>(inputs.step);
  const double beta1 = inputs.momentum.value_or(rule.beta1);
  c.decay1 = beta1;
  c.gain1 = 1 - beta1;
  c.decay2 = rule.beta2;
  c.gain2 = 1 - rule.beta2;
  c.step_size = inputs.lr / (1 - std::pow(beta1, step));
  c.root_divisor = std::sqrt(1 - std::pow(rule.beta2, step));
  c.root_scale = 1 / c.root_divisor;
  if (rule.kind == RuleKind::kAdamW) c.keep = 1 - inputs.lr * inputs.weight_decay;
}

void set_rmsprop(Exact& c, const Rule& rule, const StepInputs& inputs) {
  c.decay1 = inputs.momentum.value_or(rule.momentum);
  c.decay2 = rule.alpha;
  c.gain2 = 1 - rule.alpha;
}

void set_adagrad(Exact& c, const Rule& rule, const StepInputs& inputs) {
  c.step_size = inputs.lr / (1 + static_cast<double>(inputs.step - 1) * rule.lr_decay);
}

Formula adam_formula(const Rule& rule) {
  if (rule.kind == RuleKind::kAdam) return rule.amsgrad ? Formula::kAdamAmsgrad : Formula::kAdam;
  return rule.amsgrad ? Formula::kAdamWAmsgrad : Formula::kAdamW;
}

Formula rmsprop_formula(bool centered, bool momentum) {
  if (centered) return momentum ? Formula::kRmspropCenteredMomentum : Formula::kRmspropCentered;
  return momentum ? Formula::kRmspropMomentum : Formula::kRmsprop;
}

}  // namespace

double default_lr(RuleKind rule) { return rule == RuleKind::kRmsprop || rule == RuleKind::kAdagrad ? 1e-2 : 1e-3; }
double default_eps(RuleKind rule) { return rule == RuleKind::kAdagrad ? 1e-10 : 1e-8; }
double default_weight_decay(RuleKind rule) { return rule == RuleKind::kAdamW ? 1e-2 : 0; }

void check(const Rule& rule) {
  if (rule.kind == RuleKind::kSgd && rule.nesterov && (rule.momentum <= 0 || rule.dampening != 0)) {
    throw Error(Code::kInvalidArgument,
                "nesterov needs a momentum and no dampening; momentum = {} and dampening = {} were given",
                rule.momentum, rule.dampening);
  }
  if (is_adam(rule)) {
    for (const double beta : {rule.beta1, rule.beta2}) {
      if (beta >= 0 && beta < 1) continue;
      throw Error(Code::kInvalidArgument, "betas: [{}, {}] is not allowed; two numbers >= 0 and < 1", rule.beta1,
                  rule.beta2);
    }
  }
}

bool has_momentum(const Rule& rule) { return rule.kind != RuleKind::kAdagrad; }

Formula formula_of(const Rule& rule, bool moving_momentum) {
  const bool momentum = rule.momentum != 0 || moving_momentum;
  if (rule.kind == RuleKind::kSgd) {
    if (!momentum) return Formula::kSgd;
    return rule.nesterov ? Formula::kSgdNesterov : Formula::kSgdMomentum;
  }
  if (rule.kind == RuleKind::kRmsprop) return rmsprop_formula(rule.centered, momentum);
  if (rule.kind == RuleKind::kAdagrad) return Formula::kAdagrad;
  return adam_formula(rule);
}

std::vector<std::string> state_names(Formula formula) {
  switch (formula) {
    case Formula::kSgd:
      return {};
    case Formula::kSgdMomentum:
    case Formula::kSgdNesterov:
      return {"momentum_buffer"};
    case Formula::kAdam:
    case Formula::kAdamW:
      return {"exp_avg", "exp_avg_sq"};
    case Formula::kAdamAmsgrad:
    case Formula::kAdamWAmsgrad:
      return {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"};
    case Formula::kRmsprop:
      return {"square_avg"};
    case Formula::kRmspropMomentum:
      return {"square_avg", "momentum_buffer"};
    case Formula::kRmspropCentered:
      return {"square_avg", "grad_avg"};
    case Formula::kRmspropCenteredMomentum:
      return {"square_avg", "grad_avg", "momentum_buffer"};
    case Formula::kAdagrad:
      return {"sum"};
  }
  throw Error(Code::kInternal, "formula {} has no state names", static_cast<int>(formula));
}

std::map<std::string, double> hyperparameters(const Rule& rule, double weight_decay) {
  std::map<std::string, double> all{{"weight_decay", weight_decay}, {"maximize", rule.maximize}};
  if (rule.kind != RuleKind::kSgd) all["eps"] = rule.eps;
  if (rule.kind == RuleKind::kSgd || rule.kind == RuleKind::kRmsprop) all["momentum"] = rule.momentum;
  if (rule.kind == RuleKind::kSgd)
    all.merge(std::map<std::string, double>{{"dampening", rule.dampening}, {"nesterov", rule.nesterov}});
  if (rule.kind == RuleKind::kRmsprop)
    all.merge(std::map<std::string, double>{{"alpha", rule.alpha}, {"centered", rule.centered}});
  if (rule.kind == RuleKind::kAdagrad) all["lr_decay"] = rule.lr_decay;
  if (is_adam(rule)) {
    all.merge(std::map<std::string, double>{{"beta1", rule.beta1}, {"beta2", rule.beta2}, {"amsgrad", rule.amsgrad}});
  }
  return all;
}

Coefficients<double> coefficients(const Rule& rule, const StepInputs& inputs) {
  Exact c;
  c.gradient_scale = rule.maximize ? -inputs.gradient_scale : inputs.gradient_scale;
  c.weight_decay = inputs.weight_decay;
  c.step_size = inputs.lr;
  c.eps = rule.eps;
  switch (rule.kind) {
    case RuleKind::kSgd:
      set_sgd(c, rule, inputs);
      break;
    case RuleKind::kAdam:
    case RuleKind::kAdamW:
      set_adam(c, rule, inputs);
      break;
    case RuleKind::kRmsprop:
      set_rmsprop(c, rule, inputs);
      break;
    case RuleKind::kAdagrad:
      set_adagrad(c, rule, inputs);
      break;
  }
  return c;
}

}  // namespace trainyard::optimizer
