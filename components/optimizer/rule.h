// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "components/optimizer/kernels.h"
#include "messages/words.h"

namespace trainyard::optimizer {

/// The update rules, with the names of torch.optim.
enum class RuleKind : std::uint8_t { kSgd, kAdam, kAdamW, kRmsprop, kAdagrad };
constexpr auto words_of(RuleKind) { return words("update rule", "sgd", "adam", "adamw", "rmsprop", "adagrad"); }

/// A rule and its options, which have the names and the meaning that they have in torch.optim. Each rule uses its own
/// options and ignores the others.
struct Rule {
  RuleKind kind = RuleKind::kAdamW;
  double momentum = 0;                   ///< Used by sgd and rmsprop.
  double dampening = 0;                  ///< Used by sgd.
  bool nesterov = false;                 ///< Used by sgd.
  double beta1 = 0.9;                    ///< Used by adam and adamw.
  double beta2 = 0.999;                  ///< Used by adam and adamw.
  bool amsgrad = false;                  ///< Used by adam and adamw.
  double alpha = 0.99;                   ///< Used by rmsprop.
  bool centered = false;                 ///< Used by rmsprop.
  double lr_decay = 0;                   ///< Used by adagrad.
  double initial_accumulator_value = 0;  ///< Used by adagrad.
  double eps = 1e-8;                     ///< Used by all rules except sgd.
  bool maximize = false;
};

/// Return the defaults of torch.optim for a rule: the learning rate, eps and the weight decay.
double default_lr(RuleKind rule);
double default_eps(RuleKind rule);
double default_weight_decay(RuleKind rule);

/// Throws kInvalidArgument for options that torch.optim also refuses.
void check(const Rule& rule);

/// Returns true if the rule has a momentum (or beta1) that a learning-rate schedule can change.
bool has_momentum(const Rule& rule);

/// Returns the formula for this rule. `moving_momentum` is true if a schedule will change the momentum.
Formula formula_of(const Rule& rule, bool moving_momentum = false);

/// Returns the names of the state blocks, in the order in which the kernel expects them. torch.optim uses the same
/// names.
std::vector<std::string> state_names(Formula formula);

/// Returns the options that affect this rule, indexed by name, for checkpoints.
std::map<std::string, double> hyperparameters(const Rule& rule, double weight_decay);

/// The inputs of an update that depend on the step and the segment.
struct StepInputs {
  std::uint64_t step = 1;  ///< The number of the update, counted from 1.
  double lr = 0;
  double weight_decay = 0;
  double gradient_scale = 1;
  std::optional<double> momentum;  ///< Replaces the rule's momentum or beta1, if set.
};

/// Returns the coefficients of a step. They are computed in double precision; devices::rounded() converts them to the
/// type of the calculation.
Coefficients<double> coefficients(const Rule& rule, const StepInputs& inputs);

}  // namespace trainyard::optimizer
