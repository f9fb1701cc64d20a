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

/// An update rule and its options, with the same names and meanings as in torch.optim. Each rule uses its own options
/// and ignores the others.
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

/// These functions return the defaults of torch.optim for a rule: the learning rate, eps and the weight decay.
double default_lr(RuleKind rule);
double default_eps(RuleKind rule);
double default_weight_decay(RuleKind rule);

/// Throws kInvalidArgument for options that torch.optim also refuses.
void check(const Rule& rule);

/// Returns true if the rule has a momentum (or beta1), which the schedule one_cycle can change.
bool has_momentum(const Rule& rule);

/// Returns the formula that implements this rule. `moving_momentum` is true if a schedule will change the momentum.
Formula formula_of(const Rule& rule, bool moving_momentum = false);

/// Returns the names of the blocks of state that the formula uses, in the order in which kernels expect them. They are
/// the same names as in torch.optim.
std::vector<std::string> state_names(Formula formula);

/// Returns the options that this rule uses, and the weight decay, by name, for the description of the run in
/// checkpoints.
std::map<std::string, double> hyperparameters(const Rule& rule, double weight_decay);

/// The inputs of an update that can differ between steps and between segments (groups of parameters).
struct StepInputs {
  std::uint64_t step = 1;  ///< The number of the update, counted from 1.
  double lr = 0;
  double weight_decay = 0;
  double gradient_scale = 1;
  std::optional<double> momentum;  ///< If set, replaces the rule's momentum or beta1.
};

/// Returns the numbers that the kernel needs for an update by `rule` with the inputs `inputs`. They are computed in
/// double precision; devices::rounded() converts them to the type of the calculation.
Coefficients<double> coefficients(const Rule& rule, const StepInputs& inputs);

}  // namespace trainyard::optimizer
