// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/timeline.h"

#include <algorithm>
#include <limits>

#include "messages/error.h"

namespace trainyard::manager {

// All arithmetic about the length of a run is here, in unsigned integers of steps and batches. A step takes
// accumulate_grad_batches batches, except for the last one of an epoch, which takes what is left.

namespace {

constexpr auto kWithoutEnd = std::numeric_limits<std::uint64_t>::max();

/// The steps to the next multiple of `every`, counted from the run's first step and not from a resume; at least 1.
std::uint64_t until_multiple(std::uint64_t step, std::int64_t every) {
  if (every <= 0) return kWithoutEnd;
  const auto interval = static_cast<std::uint64_t>(every);
  return interval - step % interval;
}

/// The optimizer's steps and those that were skipped because gradients overflowed; both have used up their batches.
std::uint64_t ordered_steps(const RunState& start) {
  std::uint64_t steps = start.step;
  for (const Scalar& scalar : start.host_state) {
    if (scalar.name == "skipped_steps" && scalar.value > 0) steps += static_cast<std::uint64_t>(scalar.value);
  }
  return steps;
}

}  // namespace

Timeline::Timeline(const RunSettings& settings, std::uint64_t epoch_batches, const RunState& start)
    : settings_(settings), epoch_batches_(epoch_batches), step_(ordered_steps(start)) {
  if (epoch_batches_ == 0) return;
  if (settings_.overfit_batches > 0) {
    // The stream then never leaves epoch 0, so its cursor does not tell the epoch.
    epoch_ = step_ / steps_per_epoch();
    batch_ = step_ % steps_per_epoch() * static_cast<std::uint64_t>(settings_.accumulate_grad_batches);
  } else {
    epoch_ = start.cursor.epoch;
    batch_ = start.cursor.batch;
  }
  // The checkpoint was taken at the end of an epoch, or the epoch has become shorter since.
  if (batch_ >= epoch_batches_) {
    ++epoch_;
    batch_ = 0;
  }
  trained_epoch_ = epoch_;
  total_steps_ = steps_of_all_epochs();
  if (settings_.max_steps >= 0) total_steps_ = std::min(total_steps_, static_cast<std::uint64_t>(settings_.max_steps));
  // Only time limits the run, so the number of steps is not known.
  if (total_steps_ == kWithoutEnd) total_steps_ = 0;
}

std::uint64_t Timeline::steps_for(std::uint64_t batches) const {
  const auto per_step = static_cast<std::uint64_t>(settings_.accumulate_grad_batches);
  return (batches + per_step - 1) / per_step;
}

std::uint64_t Timeline::steps_of_all_epochs() const {
  if (settings_.max_epochs < 0) return kWithoutEnd;
  const auto epochs = static_cast<std::uint64_t>(settings_.max_epochs);
  if (epoch_ >= epochs) return step_;
  // These are the rest of this epoch, then whole epochs. An epoch's last step may be short, so epochs are counted one
  // by one.
  return step_ + steps_for(epoch_batches_ - batch_) + (epochs - epoch_ - 1) * steps_per_epoch();
}

bool Timeline::over() const {
  if (epoch_batches_ == 0) return true;
  return (settings_.max_steps >= 0 && step_ >= static_cast<std::uint64_t>(settings_.max_steps)) ||
         (settings_.max_epochs >= 0 && epoch_ >= static_cast<std::uint64_t>(settings_.max_epochs));
}

std::string Timeline::why_over() const {
  if (epoch_batches_ == 0) return "there is nothing to train on: limit_train_batches = 0";
  if (settings_.max_steps >= 0 && step_ >= static_cast<std::uint64_t>(settings_.max_steps)) {
    return fmt::format("max_steps = {} reached", settings_.max_steps);
  }
  return fmt::format("max_epochs = {} reached", settings_.max_epochs);
}

// The number of steps to the nearest place at which an order may have to end; at least 1 while not over().
std::uint64_t Timeline::steps_until_due() const {
  std::uint64_t steps = steps_for(epoch_batches_ - batch_);
  steps = std::min(steps, static_cast<std::uint64_t>(settings_.steps_per_order));
  steps = std::min(steps, until_multiple(step_, settings_.validate_every_steps));
  steps = std::min(steps, until_multiple(step_, settings_.checkpoint_every_steps));
  if (settings_.max_steps >= 0) steps = std::min(steps, static_cast<std::uint64_t>(settings_.max_steps) - step_);
  return steps;
}

Timeline::Stretch Timeline::advance() {
  Stretch stretch;
  stretch.steps = steps_until_due();
  // The last step of an epoch takes what is left.
  stretch.batches =
      std::min(stretch.steps * static_cast<std::uint64_t>(settings_.accumulate_grad_batches), epoch_batches_ - batch_);
  stretch.epoch = trained_epoch_ = epoch_;
  stretch.cursor = {settings_.overfit_batches > 0 ? 0 : epoch_, batch_};
  step_ += stretch.steps;
  batch_ += stretch.batches;
  if (batch_ == epoch_batches_) {
    ++epoch_;
    batch_ = 0;
  }
  moved_ = true;
  return stretch;
}

bool Timeline::due(std::int64_t every_steps, std::int64_t every_epochs) const {
  // Right after a resume nothing is due, because it was done before the checkpoint.
  if (!moved_) return false;
  const bool epoch_ended = epoch_ != trained_epoch_;
  return (every_steps > 0 && step_ % static_cast<std::uint64_t>(every_steps) == 0) ||
         (every_epochs > 0 && epoch_ended && epoch_ % static_cast<std::uint64_t>(every_epochs) == 0);
}

bool Timeline::validation_due() const { return due(settings_.validate_every_steps, settings_.validate_every_epochs); }

bool Timeline::checkpoint_due() const {
  return due(settings_.checkpoint_every_steps, settings_.checkpoint_every_epochs);
}

}  // namespace trainyard::manager
