// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "messages/words.h"

namespace trainyard::optimizer {

/// The learning-rate schedules, named by the parameter `schedule`.
enum class ScheduleKind : std::uint8_t { kConstant, kStep, kCosine, kLinear, kOneCycle };
constexpr auto words_of(ScheduleKind) {
  return words("learning rate schedule", "constant", "step", "cosine", "linear", "one_cycle");
}

/// The settings of a learning-rate schedule. The learning rate depends only on the step, so nothing needs to be saved
/// for a resumed run.
struct ScheduleSettings {
  ScheduleKind kind = ScheduleKind::kConstant;
  std::uint64_t warmup_steps = 0;  ///< Used by all schedules except one_cycle, which has its own warm-up.
  /// The last learning rate of cosine and linear, and the lower limit of step.
  double min_lr = 0;
  std::uint64_t step_size = 0;    ///< step: the steps between two drops.
  double gamma = 0.1;             ///< step: the factor of a drop.
  std::uint64_t total_steps = 0;  ///< The number of steps of the schedule; 0 = the number of steps of the run.
  double pct_start = 0.3;         ///< one_cycle: the part of the steps during which the rate rises.
  double div_factor = 25;         ///< one_cycle: it starts at lr / div_factor ...
  double final_div_factor = 1e4;  ///< ... and ends at that value divided by final_div_factor.
  bool cycle_momentum = true;     ///< one_cycle: momentum (or beta1) moves opposite to the learning rate.
  double base_momentum = 0.85;
  double max_momentum = 0.95;
};

/// Throws kInvalidArgument for settings that contradict each other.
void check(const ScheduleSettings& settings);

/// Returns the learning rate of update `index`, counted from 0, in a run of `run_steps` updates (0 if unknown). `lr` is
/// the base learning rate. Throws kInvalidArgument if the schedule depends on the number of steps, but this number is
/// unknown.
///
/// warm-up    lr * (index + 1) / (warmup_steps + 1), as in the newest get_lr of nanoGPT (older ones start at 0)
/// cosine     get_lr of nanoGPT; without warm-up, CosineAnnealingLR of torch 1.13 (T_max = total_steps)
/// linear     LinearLR from the factor 1 to min_lr / lr
/// step       StepLR
/// one_cycle  OneCycleLR with anneal_strategy "cos"
///
/// After the last step, cosine, linear and one_cycle keep their final value.
double learning_rate(const ScheduleSettings& settings, double lr, std::uint64_t index, std::uint64_t run_steps);

/// Returns the momentum of update `index`; empty if the schedule does not change the rule's momentum.
std::optional<double> momentum(const ScheduleSettings& settings, std::uint64_t index, std::uint64_t run_steps);

}  // namespace trainyard::optimizer
