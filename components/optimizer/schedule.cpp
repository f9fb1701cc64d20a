// SPDX-License-Identifier: Apache-2.0
#include "components/optimizer/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "messages/error.h"

namespace trainyard::optimizer {
namespace {

/// Returns a value that moves from `start` to `end` along half a cosine wave as `part` goes from 0 to 1.
double cosine_between(double start, double end, double part) {
  return end + (start - end) / 2 * (1 + std::cos(std::numbers::pi * part));
}

std::uint64_t total_of(const ScheduleSettings& settings, std::uint64_t run_steps) {
  const std::uint64_t total = settings.total_steps != 0 ? settings.total_steps : run_steps;
  if (total != 0) return total;
  throw Error(
      Code::kInvalidArgument,
      "schedule '{}' needs the number of steps, and the run has no known end; give total_steps, or bound the run "
      "by max_steps or max_epochs",
      name_of(settings.kind));
}

/// Returns which fraction of the steps after the warm-up comes before step `index`.
double part_done(const ScheduleSettings& settings, std::uint64_t index, std::uint64_t run_steps) {
  const std::uint64_t total = total_of(settings, run_steps);
  if (index >= total || total <= settings.warmup_steps) return 1;
  return static_cast<double>(index - settings.warmup_steps) / static_cast<double>(total - settings.warmup_steps);
}

/// Computes OneCycleLR, which has two phases. `start`, `middle` and `end` are the values at the start, between the
/// phases, and at the end.
double one_cycle(const ScheduleSettings& settings, std::uint64_t index, std::uint64_t run_steps, double start,
                 double middle, double end) {
  const auto total = static_cast<double>(total_of(settings, run_steps));
  const double step = std::min(static_cast<double>(index), total - 1);
  const double turn = settings.pct_start * total - 1;
  // If the first phase has no length, only the second is used; torch would divide zero by zero.
  if (turn > 0 && step <= turn) return cosine_between(start, middle, step / turn);
  const double fall = total - 1 - turn;
  return fall > 0 ? cosine_between(middle, end, (step - turn) / fall) : end;
}

}  // namespace

void check(const ScheduleSettings& settings) {
  if (settings.kind == ScheduleKind::kStep && settings.step_size == 0) {
    throw Error(Code::kInvalidArgument,
                "schedule 'step' needs step_size; step_size = 0 was given, a number > 0 is allowed");
  }
  if (settings.kind == ScheduleKind::kOneCycle && settings.warmup_steps != 0) {
    throw Error(Code::kInvalidArgument,
                "schedule 'one_cycle' warms up by pct_start; warmup_steps = {} was given, only 0 is allowed",
                settings.warmup_steps);
  }
  if (settings.total_steps != 0 && settings.warmup_steps > settings.total_steps) {
    throw Error(Code::kInvalidArgument, "warmup_steps = {} is more than total_steps = {}", settings.warmup_steps,
                settings.total_steps);
  }
}

double learning_rate(const ScheduleSettings& settings, double lr, std::uint64_t index, std::uint64_t run_steps) {
  if (settings.kind == ScheduleKind::kOneCycle) {
    const double start = lr / settings.div_factor;
    return one_cycle(settings, index, run_steps, start, lr, start / settings.final_div_factor);
  }
  if (index < settings.warmup_steps) {
    return lr * static_cast<double>(index + 1) / static_cast<double>(settings.warmup_steps + 1);
  }
  if (settings.kind == ScheduleKind::kCosine)
    return cosine_between(lr, settings.min_lr, part_done(settings, index, run_steps));
  if (settings.kind == ScheduleKind::kLinear)
    return lr + (settings.min_lr - lr) * part_done(settings, index, run_steps);
  if (settings.kind == ScheduleKind::kStep) {
    const auto drops = static_cast<double>((index - settings.warmup_steps) / settings.step_size);
    return std::max(settings.min_lr, lr * std::pow(settings.gamma, drops));
  }
  return lr;
}

std::optional<double> momentum(const ScheduleSettings& settings, std::uint64_t index, std::uint64_t run_steps) {
  if (settings.kind != ScheduleKind::kOneCycle || !settings.cycle_momentum) return {};
  return one_cycle(settings, index, run_steps, settings.max_momentum, settings.base_momentum, settings.max_momentum);
}

}  // namespace trainyard::optimizer
