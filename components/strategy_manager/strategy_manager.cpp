// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/strategy_manager.h"

#include <chrono>
#include <utility>

#include "messages/error.h"

namespace trainyard {

// The functions that check the settings do not know the component, so its name is added to the error here.
void StrategyManager::on_configure() {
  try {
    settings_ = manager::resolved(read_settings());
  } catch (const Error& error) {
    throw Error(error.code(), "{}: {}", where(), error.what());
  }
  merger_.emplace(context().world_size);
}

void StrategyManager::on_deactivate() {
  if (clock_) loop().cancel(*clock_);
  clock_.reset();
  merger_->finish();
  send_merged_metrics();
}

void StrategyManager::on_dataset(const DatasetInfo& info) { announced_.add(info); }

void StrategyManager::on_model(const ModelInfo& info) {
  log().info("rank {} is ready: {} with {} parameters on {}, {}", info.rank, info.model, info.parameters, info.device,
             info.precision);
  announced_.add(info);
}

void StrategyManager::on_run_state(const RunState& state) {
  changed_.resume(state.settings);
  announced_.add(state);
}

void StrategyManager::begin() {
  if (finished_) return;  // The run was stopped before its first step.
  RunState start;
  try {
    start = announced_.checked_start(settings_, [this](const std::string& text) { log().warn("{}", text); });
    agenda_.emplace(settings_, announced_.facts(), start, announced_.restored());
  } catch (const Error& error) {
    throw Error(error.code(), "{}: {}", where(), error.what());
  }
  agenda_->record(changed_.all());
  if (pauses_.any()) agenda_->pause();
  if (start.resumed) log().info("resumed from {}", start.path);
  log().info("{}", agenda_->describe());
  start_clock();
  proceed();
}

void StrategyManager::start_clock() {
  if (settings_.mode != manager::RunMode::kFit || settings_.max_time_s <= 0) return;
  // The time is measured from the first order on, so building the model does not count.
  const auto time = std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(settings_.max_time_s));
  clock_ = loop().after(time, [this] {
    // Exceptions of timer callbacks, unlike those of handlers, are not caught by the event loop, so guarded() is
    // needed.
    guarded([this] {
      clock_.reset();
      if (finished_) return;
      // The limit counts as a regular end of the run, so the checkpoint is the final one.
      agenda_->stop(fmt::format("max_time_s = {} reached", settings_.max_time_s), manager::CheckpointReason::kFinal);
      proceed();
    });
  });
}

void StrategyManager::on_order_done(const OrderDone& done) {
  if (!agenda_) {
    throw Error(Code::kInternal, "{}: order {} was answered before the first order; the run waits for {}", where(),
                done.order, announced_.missing());
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
  // Only an error message: the run continues, because earlier checkpoints exist, and a later attempt may succeed.
  if (!done.error.empty()) log().error("the checkpoint of step {} was not written: {}", done.step, done.error);
  // The message belongs to none of this component's orders.
  if (!agenda_) return;
  agenda_->checkpoint_done(done);
  proceed();
}

/// Sends all orders that can be sent now, and ends the run when nothing is left to do.
void StrategyManager::proceed() {
  while (std::optional<Order> order = agenda_->next()) orders_.send(std::move(*order));
  report_rest();
  if (const auto outcome = agenda_->outcome()) finish(outcome->reason, outcome->success);
}

void StrategyManager::finish(const std::string& reason, bool success) {
  if (finished_) return;
  // Later messages have no effect.
  finished_ = true;
  log().info("the run is over: {}", reason);
  report_rest();
  finish_run(reason, success);
}

// Can be called at any time, even before the first order and after the end of the run.
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
  return {agenda_->saves() ? "stopping after this step, with a checkpoint" : "stopping after this step"};
}

RunReply StrategyManager::checkpoint() {
  if (!agenda_ || !agenda_->add_checkpoint()) {
    throw Error(Code::kUnsupported,
                "{}: no checkpoint can be taken now; it needs a fit that is under way, without fast_dev_run, and a "
                "checkpoint writer",
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

// The answer is sent later, when all ranks wait or have nothing left to do.
void StrategyManager::pause(std::function<void(const RunReply&)> answer) {
  pauses_.add(std::move(answer));
  if (agenda_ && !finished_) {
    agenda_->pause();
    proceed();
  } else {
    report_rest();
  }
}

void StrategyManager::report_rest() {
  if (agenda_ && !finished_ && !agenda_->resting()) return;
  pauses_.answer_all({agenda_ ? fmt::format("resting after step {}", agenda_->step_done()) : "not begun"});
}

RunReply StrategyManager::go_on(const GoOnRequest& request) {
  if (!pauses_.any()) throw Error(Code::kInvalidArgument, "{}: there is no pause that could be ended", where());
  const std::uint64_t step = agenda_ ? agenda_->step_done() : 0;
  for (const Setting& changed : request.settings) {
    changed_.change(changed);
    log().info("{}: {} = {} after step {}, instead of {}", changed.component, changed.parameter, changed.value, step,
               changed.instead_of);
  }
  if (agenda_) agenda_->record(changed_.all());
  if (!pauses_.end_one()) {
    return {
        fmt::format("still resting after step {}, because the run was paused several times; call this again", step)};
  }
  if (agenda_ && !finished_) {
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
          .stop_at_step = *stop_at_step_,
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
