// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/timeline.h"

#include <algorithm>
#include <limits>

#include "messages/error.h"

namespace trainyard::manager {

// A step uses accumulate_grad_batches batches, except that the last step of an epoch uses the remaining ones.

namespace {

constexpr auto kWithoutEnd = std::numeric_limits<std::uint64_t>::max();

/// Returns the number of steps from step `step` to the next multiple of `every`; at least 1. Steps are counted from the
/// first step of the run, even if it has been resumed.
std::uint64_t until_multiple(std::uint64_t step, std::int64_t every) {
  if (every <= 0) return kWithoutEnd;
  const auto interval = static_cast<std::uint64_t>(every);
  return interval - step % interval;
}

}  // namespace

// `step_` counts the optimizer's updates and the skipped steps, because both have used batches.
Timeline::Timeline(const RunSettings& settings, const SplitInfo& train, const RunState& start)
    : settings_(settings), train_(train), epoch_batches_(batches_from(0)), step_(start.step + start.skipped_steps) {
  if (epoch_batches_ == 0) return;
  if (settings_.overfit_batches > 0) {
    // Training then always uses epoch 0 of the data, so the epoch is computed from the step.
    epoch_ = step_ / steps_per_epoch();
    used_ = step_ % steps_per_epoch() * static_cast<std::uint64_t>(settings_.accumulate_grad_batches) * batch_samples();
  } else {
    epoch_ = start.cursor.epoch;
    used_ = start.cursor.samples;
  }
  left_ = batches_from(used_);
  // The checkpoint was saved at the end of an epoch, or the rest of the epoch is smaller than a batch.
  if (left_ == 0) begin_epoch(epoch_ + 1);
  trained_epoch_ = epoch_;
  total_steps_ = steps_of_all_epochs();
  if (settings_.max_steps >= 0) total_steps_ = std::min(total_steps_, static_cast<std::uint64_t>(settings_.max_steps));
  // The run is limited only by time, so the number of steps is unknown.
  if (total_steps_ == kWithoutEnd) total_steps_ = 0;
}

std::uint64_t Timeline::batches_from(std::uint64_t used) const {
  const std::uint64_t left = train_.batches_from(used);
  if (settings_.limit_train_batches < 0) return left;
  const auto limit = static_cast<std::uint64_t>(settings_.limit_train_batches);
  // If the batch size has changed, the used samples may not be a whole number of batches.
  const std::uint64_t gone = used / batch_samples() + (used % batch_samples() != 0 ? 1 : 0);
  return std::min(left, limit - std::min(limit, gone));
}

void Timeline::begin_epoch(std::uint64_t epoch) {
  epoch_ = epoch;
  used_ = 0;
  left_ = epoch_batches_;
}

std::uint64_t Timeline::steps_for(std::uint64_t batches) const {
  const auto per_step = static_cast<std::uint64_t>(settings_.accumulate_grad_batches);
  return (batches + per_step - 1) / per_step;
}

std::uint64_t Timeline::steps_of_all_epochs() const {
  if (settings_.max_epochs < 0) return kWithoutEnd;
  const auto epochs = static_cast<std::uint64_t>(settings_.max_epochs);
  if (epoch_ >= epochs) return step_;
  // The steps in the rest of this epoch, and in all following epochs. Each epoch is rounded separately, because its
  // last step may have fewer batches.
  return step_ + steps_for(left_) + (epochs - epoch_ - 1) * steps_per_epoch();
}

bool Timeline::stopped_early() const {
  return settings_.stop_at_step > 0 && step_ >= static_cast<std::uint64_t>(settings_.stop_at_step);
}

bool Timeline::over() const {
  if (epoch_batches_ == 0 || stopped_early()) return true;
  return (settings_.max_steps >= 0 && step_ >= static_cast<std::uint64_t>(settings_.max_steps)) ||
         (settings_.max_epochs >= 0 && epoch_ >= static_cast<std::uint64_t>(settings_.max_epochs));
}

std::string Timeline::why_over() const {
  if (epoch_batches_ == 0) return "there is nothing to train on: limit_train_batches = 0";
  if (settings_.max_steps >= 0 && step_ >= static_cast<std::uint64_t>(settings_.max_steps)) {
    return fmt::format("max_steps = {} reached", settings_.max_steps);
  }
  if (stopped_early()) return fmt::format("stop_at_step = {} reached", settings_.stop_at_step);
  return fmt::format("max_epochs = {} reached", settings_.max_epochs);
}

// Returns the number of steps to the next point at which an order must end; at least 1 unless over() is true.
std::uint64_t Timeline::steps_until_due() const {
  std::uint64_t steps = steps_for(left_);
  steps = std::min(steps, static_cast<std::uint64_t>(settings_.steps_per_order));
  steps = std::min(steps, until_multiple(step_, settings_.validate_every_steps));
  steps = std::min(steps, until_multiple(step_, settings_.checkpoint_every_steps));
  if (settings_.max_steps >= 0) steps = std::min(steps, static_cast<std::uint64_t>(settings_.max_steps) - step_);
  if (settings_.stop_at_step > 0) steps = std::min(steps, static_cast<std::uint64_t>(settings_.stop_at_step) - step_);
  return steps;
}

Timeline::Stretch Timeline::advance() {
  Stretch stretch;
  stretch.steps = steps_until_due();
  // The last step of an epoch uses the remaining batches.
  stretch.batches = std::min(stretch.steps * static_cast<std::uint64_t>(settings_.accumulate_grad_batches), left_);
  stretch.epoch = trained_epoch_ = epoch_;
  stretch.cursor = {settings_.overfit_batches > 0 ? 0 : epoch_, used_};
  step_ += stretch.steps;
  used_ += stretch.batches * batch_samples();
  left_ -= stretch.batches;
  if (left_ == 0) begin_epoch(epoch_ + 1);
  moved_ = true;
  return stretch;
}

bool Timeline::due(std::int64_t every_steps, std::int64_t every_epochs) const {
  // Directly after resuming, nothing is due, because it was done before the checkpoint was saved.
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
