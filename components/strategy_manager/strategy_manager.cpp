// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/strategy_manager.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "messages/error.h"

namespace trainyard {

// The functions that check the settings do not know the component, so its name is put in front here.
void StrategyManager::on_configure() {
  try {
    settings_ = manager::resolved(read_settings());
  } catch (const Error& error) {
    throw Error(error.code(), "{}: {}", where(), error.what());
  }
  facts_.ranks = context().world_size;
  merger_.emplace(facts_.ranks);
}

void StrategyManager::on_deactivate() {
  if (clock_) loop().cancel(*clock_);
  clock_.reset();
  merger_->finish();
  send_merged_metrics();
}

void StrategyManager::on_dataset(const DatasetInfo& info) {
  // The shipped loader gives every rank the same number of batches, empty ones if necessary; others may not.
  for (const SplitInfo& split : info.splits) add_split(facts_, split);
  if (datasets_ == 0) data_ = info;
  data_known_.arrived(datasets_++);
}

void StrategyManager::on_model(const ModelInfo& info) {
  log().info("rank {} is ready: {} with {} parameters on {}, {}", info.rank, info.model, info.parameters, info.device,
             info.precision);
  hosts_ready_.arrived(info.rank);
}

void StrategyManager::on_run_state(const RunState& state) {
  start_ = state;
  changed_.insert(changed_.end(), state.settings.begin(), state.settings.end());
  start_known_.arrived();
}

void StrategyManager::begin() {
  if (finished_) return;  // The run was stopped before its first step.
  // This is not done earlier, because connections are known only once the component is active.
  facts_.writes_checkpoints = checkpoints_.connections() > 0;
  facts_.data = manager::data_state(data_);
  RunState start = start_.value_or(RunState{});
  try {
    if (start.resumed) check_data(start);
    agenda_.emplace(settings_, facts_, start, restored_);
  } catch (const Error& error) {
    throw Error(error.code(), "{}: {}", where(), error.what());
  }
  agenda_->record(changed_);
  if (pauses_ > 0) agenda_->pause();
  if (start_ && start_->resumed) log().info("resumed from {}", start_->path);
  log().info("{}", agenda_->describe());
  start_clock();
  proceed();
}

/// A position means the same samples only in the same order of the same data, and the numbers that a model gives mean
/// the same only with the same vocabulary.
void StrategyManager::check_data(RunState& start) {
  const StateReader saved(restored_, manager::kDataState, 0);
  if (saved.empty()) {
    log().warn("{} does not say on which data it was trained, so nothing is compared", start.path);
  } else {
    manager::check_same_data(saved, data_, settings_, [&](const std::string& difference) {
      log().warn("accepted by may_differ: {}", difference);
    });
  }
  if (start.cursor_batches == 0 || settings_.mode != manager::RunMode::kFit) return;
  const auto& accepted = settings_.may_differ;
  if (std::ranges::find(accepted, manager::Difference::kPosition) == accepted.end()) {
    throw Error(Code::kInvalidArgument,
                "{} is of format 1, which says only that {} batches of epoch {} had been used, and not how large they "
                "were; if the batch size and the number of ranks are as they were then, resume with may_differ = "
                "[\"position\"] in [run]",
                start.path, start.cursor_batches, start.cursor.epoch);
  }
  start.cursor.samples = start.cursor_batches * std::max<std::uint64_t>(1, facts_.train.batch_samples);
  log().warn("{} is resumed after {} batches of epoch {}, as large as those of this run", start.path,
             start.cursor_batches, start.cursor.epoch);
}

void StrategyManager::start_clock() {
  if (settings_.mode != manager::RunMode::kFit || settings_.max_time_s <= 0) return;
  // The time is measured from the first order on; what building the model took does not count.
  const auto time = std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(settings_.max_time_s));
  clock_ = loop().after(time, [this] {
    // A timer is not a handler, so the runtime does not catch its exceptions.
    guarded([this] {
      clock_.reset();
      if (finished_) return;
      // The checkpoint is the final one, because a limit was reached like any other.
      agenda_->stop(fmt::format("max_time_s = {} reached", settings_.max_time_s), manager::CheckpointReason::kFinal);
      proceed();
    });
  });
}

void StrategyManager::on_order_done(const OrderDone& done) {
  if (!agenda_) {
    throw Error(Code::kInternal, "{}: order {} was answered before the first order; the run waits for {}", where(),
                done.order, begin_.missing());
  }
  agenda_->order_done(done);
  if (done.kind != OrderKind::kPause) merger_->answered(done);
  send_merged_metrics();
  proceed();
}

void StrategyManager::on_rank_metrics(const RankMetrics& metrics) {
  const std::uint64_t late = merger_->late();
  merger_->add(metrics);
  if (merger_->late() > late) {
    log().warn(
        "metrics of rank {} ('{}', step {}) came after those of the other ranks had been sent; dropped, {} so far",
        metrics.rank, metrics.metrics.stage, metrics.metrics.step, merger_->late());
  }
  send_merged_metrics();
}

void StrategyManager::send_merged_metrics() {
  for (Metrics& metrics : merger_->take()) metrics_.send(std::move(metrics));
}

void StrategyManager::on_checkpoint(const CheckpointDone& done) {
  // The run goes on: an earlier checkpoint is still there, and the disk may have room again.
  if (!done.error.empty()) log().error("the checkpoint of step {} was not written: {}", done.step, done.error);
  // This is a late answer that belongs to none of our orders.
  if (!agenda_) return;
  agenda_->checkpoint_done(done);
  proceed();
}

/// Sends every order that is due, and ends the run when there are no more.
void StrategyManager::proceed() {
  while (std::optional<Order> order = agenda_->next()) orders_.send(std::move(*order));
  report_rest();
  if (const auto outcome = agenda_->outcome()) finish(outcome->reason, outcome->success);
}

void StrategyManager::finish(const std::string& reason, bool success) {
  if (finished_) return;
  // This happens once: what still arrives afterwards changes nothing.
  finished_ = true;
  log().info("the run is over: {}", reason);
  report_rest();
  finish_run(reason, success);
}

// This is safe at any time: before the first order there is nothing to save, and after the end nothing to stop.
RunReply StrategyManager::stop(const RunRequest& request) {
  const std::string reason =
      request.reason.empty() ? "stopped by request" : fmt::format("stopped by request: {}", request.reason);
  if (finished_) return {"the run is over already"};
  if (!agenda_) {
    finish(reason, true);
    return {"stopping before the first step"};
  }
  agenda_->stop(reason);
  proceed();
  return {facts_.writes_checkpoints && settings_.mode == manager::RunMode::kFit
              ? "stopping after this step, with a checkpoint"
              : "stopping after this step"};
}

RunReply StrategyManager::checkpoint() {
  if (!agenda_ || !agenda_->add_checkpoint()) {
    throw Error(Code::kUnsupported,
                "{}: no checkpoint can be taken now; it needs a fit that is under way and a checkpoint writer",
                where());
  }
  proceed();
  return {"a checkpoint follows the steps that are ordered"};
}

RunReply StrategyManager::validate() {
  if (!agenda_ || !agenda_->add_validation()) {
    throw Error(Code::kUnsupported,
                "{}: there can be no validation now; it needs a run under way and a split to go over", where());
  }
  proceed();
  return {"a validation follows the steps that are ordered"};
}

// It is answered later: when the ranks have come to rest, or when there is nothing that could go on.
void StrategyManager::pause(std::function<void(const RunReply&)> answer) {
  ++pauses_;
  waiting_for_rest_.push_back(std::move(answer));
  if (agenda_ && !finished_) {
    agenda_->pause();
    proceed();
  } else {
    report_rest();
  }
}

void StrategyManager::report_rest() {
  if (agenda_ && !finished_ && !agenda_->resting()) return;
  const RunReply reply{agenda_ ? fmt::format("resting after step {}", agenda_->step_done()) : "not begun"};
  for (const auto& answer : std::exchange(waiting_for_rest_, {})) answer(reply);
}

RunReply StrategyManager::go_on(const GoOnRequest& request) {
  if (pauses_ == 0) throw Error(Code::kInvalidArgument, "{}: there is no pause that could be ended", where());
  const std::uint64_t step = agenda_ ? agenda_->step_done() : 0;
  for (const Setting& changed : request.settings) {
    const auto same = [&](const Setting& one) {
      return one.component == changed.component && one.parameter == changed.parameter;
    };
    const auto known = std::ranges::find_if(changed_, same);
    // What the launch file gave is that of the first change.
    if (known == changed_.end()) {
      changed_.push_back(changed);
    } else {
      known->value = changed.value;
    }
    std::erase_if(changed_, [](const Setting& one) { return one.value == one.instead_of; });
    log().info("{}: {} = {} after step {}, instead of {}", changed.component, changed.parameter, changed.value, step,
               changed.instead_of);
  }
  if (agenda_) agenda_->record(changed_);
  if (--pauses_ == 0 && agenda_ && !finished_) {
    agenda_->go_on();
    proceed();
  }
  return {fmt::format("going on after step {}", step)};
}

manager::RunSettings StrategyManager::read_settings() const {
  return {.mode = *mode_,
          .max_steps = *max_steps_,
          .max_epochs = *max_epochs_,
          .max_time_s = *max_time_s_,
          .accumulate_grad_batches = *accumulate_grad_batches_,
          .limit_train_batches = *limit_train_batches_,
          .limit_val_batches = *limit_val_batches_,
          .limit_test_batches = *limit_test_batches_,
          .limit_predict_batches = *limit_predict_batches_,
          .overfit_batches = *overfit_batches_,
          .fast_dev_run = *fast_dev_run_,
          .validate_every_steps = *validate_every_steps_,
          .validate_every_epochs = *validate_every_epochs_,
          .num_sanity_val_steps = *num_sanity_val_steps_,
          .evaluate_splits = *evaluate_splits_,
          .evaluate_at_start = *evaluate_at_start_,
          .predict_at_end = *predict_at_end_,
          .predict_split = *predict_split_,
          .checkpoint_every_steps = *checkpoint_every_steps_,
          .checkpoint_every_epochs = *checkpoint_every_epochs_,
          .checkpoint_after_validation = *checkpoint_after_validation_,
          .checkpoint_at_end = *checkpoint_at_end_,
          .monitor = *monitor_,
          .monitor_max = *monitor_mode_ == Better::kLarger,
          .early_stopping_patience = *early_stopping_patience_,
          .early_stopping_min_delta = *early_stopping_min_delta_,
          .may_differ = manager::differences_named(*may_differ_),
          .steps_per_order = *steps_per_order_};
}

}  // namespace trainyard

TRAINYARD_COMPONENT(trainyard::StrategyManager, "strategy_manager",
                    "Owns the run: epochs, steps, when to validate, to save and to stop.")
