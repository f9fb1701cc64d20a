// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "messages/words.h"

namespace trainyard::optimizer {

/// The learning-rate schedules; see learning_rate().
enum class ScheduleKind : std::uint8_t { kConstant, kStep, kCosine, kLinear, kOneCycle };
constexpr auto words_of(ScheduleKind) {
  return words("learning rate schedule", "constant", "step", "cosine", "linear", "one_cycle");
}

/// The settings of a learning-rate schedule. The learning rate depends only on the step, so checkpoints contain no
/// state of the schedule.
struct ScheduleSettings {
  ScheduleKind kind = ScheduleKind::kConstant;
  std::uint64_t warmup_steps = 0;  ///< Used by all schedules except one_cycle, which includes a warm-up.
  /// cosine, linear: the learning rate at the end. step: the lower limit.
  double min_lr = 0;
  std::uint64_t step_size = 0;    ///< step: the number of steps between two drops.
  double gamma = 0.1;             ///< step: the factor by which the learning rate drops.
  std::uint64_t total_steps = 0;  ///< The number of steps of the schedule; 0 means the number of steps of the run.
  double pct_start = 0.3;         ///< one_cycle: the fraction of the steps during which the rate rises.
  double div_factor = 25;         ///< one_cycle: the rate starts at lr / div_factor.
  double final_div_factor = 1e4;  ///< one_cycle: the rate ends at lr / div_factor / final_div_factor.
  /// one_cycle: true if the momentum (or beta1) falls while the learning rate rises, and rises while that rate falls.
  bool cycle_momentum = true;
  double base_momentum = 0.85;
  double max_momentum = 0.95;
};

/// Throws kInvalidArgument for settings that contradict each other.
void check(const ScheduleSettings& settings);

/// Returns the learning rate of update `index`, counted from 0, in a run of `run_steps` updates (0 if unknown). `lr` is
/// the base learning rate. Throws kInvalidArgument if the schedule depends on the number of steps and this number is
/// unknown.
///
/// warm-up    lr * (index + 1) / (warmup_steps + 1), as in the newest get_lr of nanoGPT (older versions start at 0)
/// cosine     get_lr of nanoGPT; without warm-up, CosineAnnealingLR of torch 1.13 (T_max = total_steps)
/// linear     LinearLR from the factor 1 to min_lr / lr
/// step       StepLR
/// one_cycle  OneCycleLR with anneal_strategy "cos"
///
/// After the last step, cosine, linear and one_cycle keep their final value.
double learning_rate(const ScheduleSettings& settings, double lr, std::uint64_t index, std::uint64_t run_steps);

/// Returns the momentum of update `index`, or nothing if the schedule does not change the momentum. The arguments are
/// those of learning_rate().
std::optional<double> momentum(const ScheduleSettings& settings, std::uint64_t index, std::uint64_t run_steps);

}  // namespace trainyard::optimizer
