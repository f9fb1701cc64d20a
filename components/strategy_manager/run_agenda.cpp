// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/run_agenda.h"

#include <algorithm>
#include <utility>

#include "messages/error.h"
#include "messages/reduction.h"

namespace trainyard::manager {

// plan() adds tasks, next() returns their orders, and order_done() closes them. Results affect only tasks that are
// planned later. An order that has been sent is cancelled only by a stop.

namespace {

/// The largest number of open orders: the order that is being carried out, and the next one.
constexpr std::size_t kOpenOrders = 2;

/// Returns the split to train on. It has no batches if the run does not train, so that only the mode `fit` needs a
/// split "train".
SplitInfo epochs_of(const RunSettings& settings, const RunFacts& facts) {
  if (settings.mode != RunMode::kFit) return {};
  batches_of(facts, kTrainSplit, -1);  // Throws if there is no such split.
  return facts.train;
}

}  // namespace

RunAgenda::RunAgenda(RunSettings settings, RunFacts facts, const RunState& start, const RestoredStates& restored)
    : settings_(std::move(settings)),
      facts_(std::move(facts)),
      timeline_(settings_, epochs_of(settings_, facts_), start),
      validation_(settings_, facts_, start.metrics),
      open_(facts_.ranks),
      pause_(facts_.ranks),
      step_done_(start.step),
      checkpoints_(timeline_.step(), start) {
  const bool trains = settings_.max_steps != 0 && settings_.max_epochs != 0 && settings_.limit_train_batches != 0;
  if (settings_.mode == RunMode::kFit && trains && facts_.train.batches == 0) {
    throw Error(Code::kInvalidArgument, "the split 'train' has 0 batches; lower batch_size or give more data");
  }
  if (settings_.mode == RunMode::kValidate && validation_.splits().empty()) {
    throw Error(Code::kInvalidArgument, "mode 'validate' has nothing to evaluate: no batch in any of evaluate_splits");
  }
  const StateReader early_stopping(restored, Validation::kState, 0);
  if (!early_stopping.empty()) validation_.restore_state(early_stopping);
  plan_start();
}

std::optional<Order> RunAgenda::next() {
  if (std::optional<Order> order = next_pause()) return order;
  if (stop_) return next_while_stopping();
  if (!pause_.working()) return {};
  // Tasks are planned as late as possible, because results that affect them may still arrive.
  if (planned_.empty()) plan();
  if (planned_.empty() || open_.size() >= kOpenOrders) return {};
  // The task needs the results of open orders.
  if (planned_.front().waits && !open_.empty()) return {};
  return issue_planned();
}

std::optional<Order> RunAgenda::next_pause() {
  const std::optional<OrderKind> kind = pause_.next(open_.next_id());
  if (!kind) return {};
  Order order = order_of(*kind);
  order.id = open_.take_id();
  return order;
}

std::optional<Order> RunAgenda::next_while_stopping() {
  if (stop_->state == Stop::State::kWanted) {
    // If a pause is beginning or ending, this must be completed first.
    if (!pause_.working() && !pause_.resting()) return {};
    // Several ranks first pause, so that all of them stop after the same step.
    if (facts_.ranks > 1 && !open_.empty() && pause_.working()) {
      pause_.want();
      return next_pause();
    }
    pause_.drop();
    stop_->state = Stop::State::kSent;
    Task task{order_of(OrderKind::kStop)};
    task.order.reason = stop_->reason;
    return issue(std::move(task));
  }
  // After the stop, only the last checkpoint can be planned.
  if (stop_->state != Stop::State::kAnswered || planned_.empty() || !open_.empty()) return {};
  return issue_planned();
}

Order RunAgenda::issue_planned() {
  Task task = std::move(planned_.front());
  planned_.pop_front();
  return issue(std::move(task));
}

Order RunAgenda::issue(Task task) {
  // These values are set now, because the validation whose metrics the checkpoint contains may have ended after the
  // checkpoint was planned.
  if (task.order.kind == OrderKind::kCheckpoint) {
    task.order.metrics = validation_.metrics();
    task.order.settings = changed_;
    task.order.states = states();
    const bool best = task.reason == CheckpointReason::kValidation && validation_.improved();
    task.order.reason = name_of(best ? CheckpointReason::kBest : task.reason);
  }
  return open_.open(std::move(task));
}

std::vector<SavedState> RunAgenda::states() const {
  StateWriter early_stopping(Validation::kState, 0);
  validation_.save_state(early_stopping);
  std::vector<SavedState> all = early_stopping.take();
  all.insert(all.end(), facts_.data.begin(), facts_.data.end());
  return all;
}

// Makes an order and sets the fields that all orders have. The epoch is that of the last training: an evaluation after
// epoch 3 belongs to epoch 3.
Order RunAgenda::order_of(OrderKind kind) const {
  Order order;
  order.kind = kind;
  order.epoch = timeline_.trained_epoch();
  order.total_steps = timeline_.total_steps();
  return order;
}

void RunAgenda::plan() {
  if (ended_) return;
  // It is not known yet whether training continues.
  if (decision_pending()) return;
  if (settings_.mode != RunMode::kFit) {
    ended_ = true;
  } else if (timeline_.over() || validation_.stopping().should_stop()) {
    plan_end();
  } else {
    plan_training();
  }
}

// Plans the tasks before training or, in other modes than fit, all tasks.
void RunAgenda::plan_start() {
  if (settings_.mode == RunMode::kFit) {
    if (settings_.num_sanity_val_steps > 0) plan_evaluation(Purpose::kSanity, planned_);
    if (settings_.evaluate_at_start) plan_evaluation(Purpose::kPlanned, planned_);
  } else if (settings_.mode == RunMode::kValidate) {
    plan_evaluation(Purpose::kPlanned, planned_);
  } else {
    const bool test = settings_.mode == RunMode::kTest;
    const bool generates = !test && settings_.predict_split.empty();
    Task task{order_of(test ? OrderKind::kEvaluate : generates ? OrderKind::kGenerate : OrderKind::kPredict)};
    task.order.split = test ? "test" : settings_.predict_split;
    if (!generates) {
      const auto limit = test ? settings_.limit_test_batches : settings_.limit_predict_batches;
      task.order.batches = batches_of(facts_, task.order.split, limit);
      // An error, because a run that does nothing would look successful.
      if (task.order.batches == 0) {
        throw Error(Code::kInvalidArgument, "mode '{}' has nothing to do: {} of the split '{}'",
                    name_of(settings_.mode),
                    limit == 0 ? fmt::format("limit_{}_batches = 0", name_of(settings_.mode)) : "there is no sample",
                    task.order.split);
      }
    }
    planned_.push_back(std::move(task));
  }
}

void RunAgenda::plan_training() {
  const Timeline::Stretch stretch = timeline_.advance();
  Task task{order_of(OrderKind::kTrain)};
  task.order.split = "train";
  // A stretch ends where a validation or a checkpoint can be due, because they are separate orders.
  task.order.batches = stretch.batches;
  task.order.micro_batches = static_cast<std::uint64_t>(settings_.accumulate_grad_batches);
  task.order.cursor = stretch.cursor;
  planned_.push_back(std::move(task));

  const bool validates = timeline_.validation_due() && !validation_.splits().empty();
  if (validates) plan_evaluation(Purpose::kPlanned, planned_);
  if (timeline_.over() && settings_.checkpoint_at_end) return;  // The final checkpoint follows anyway.
  if (validates && settings_.checkpoint_after_validation) {
    plan_checkpoint(CheckpointReason::kValidation, true);
  } else if (timeline_.checkpoint_due()) {
    plan_checkpoint(CheckpointReason::kInterval, validates);
  }
}

void RunAgenda::plan_end() {
  ended_ = true;
  // Not needed if a checkpoint of the same step was already planned for another reason.
  if (settings_.checkpoint_at_end && !checkpoints_.planned_at(timeline_.step())) {
    plan_checkpoint(CheckpointReason::kFinal, true);
  }
  if (settings_.predict_at_end) {
    Task task{order_of(OrderKind::kGenerate)};
    task.order.split = "predict";
    planned_.push_back(std::move(task));
  }
}

// Does nothing if there is no checkpoint writer, which would have to answer.
void RunAgenda::plan_checkpoint(CheckpointReason reason, bool waits) {
  if (!saves()) return;
  checkpoints_.plan(timeline_.step());
  Task task{order_of(OrderKind::kCheckpoint), waits};
  task.reason = reason;
  planned_.push_back(std::move(task));
}

// Adds one order for each split of the validation.
void RunAgenda::plan_evaluation(Purpose purpose, std::deque<Task>& into) const {
  for (const auto& split : validation_.splits()) {
    if (purpose == Purpose::kSanity && split.name != "validate") continue;
    Task task{order_of(OrderKind::kEvaluate), false, purpose};
    task.order.split = split.name;
    task.order.batches = split.batches;
    if (purpose == Purpose::kSanity) {
      task.order.batches = std::min(split.batches, static_cast<std::uint64_t>(settings_.num_sanity_val_steps));
    }
    into.push_back(std::move(task));
  }
}

/// Returns true if an open validation can still end the training by early stopping.
bool RunAgenda::decision_pending() const {
  return settings_.early_stopping_patience > 0 && open_.has_evaluation(Purpose::kPlanned);
}

void RunAgenda::order_done(const OrderDone& done) {
  step_done_ = std::max(step_done_, done.step);
  if (pause_.answered(done)) return;
  const std::optional<OpenOrders::Closed> closed = open_.answered(done);
  if (!closed) return;
  if (closed->task.order.kind == OrderKind::kStop) {
    close_stop(done);
  } else {
    close(*closed, done);
  }
}

void RunAgenda::close(const OpenOrders::Closed& closed, const OrderDone& done) {
  const Task& task = closed.task;
  // The metrics of a sanity check, which uses only a few batches, are ignored.
  if (task.order.kind == OrderKind::kEvaluate && task.purpose != Purpose::kSanity && !done.stopped) {
    ScalarMerger merged;
    for (const auto& [rank, answer] : closed.measured) {
      merged.add(answer.metrics, static_cast<double>(answer.samples), answer.reductions);
    }
    validation_.take(task.order.split, merged.values(),
                     task.purpose == Purpose::kPlanned && settings_.mode == RunMode::kFit);
  }
  if (task.order.kind == OrderKind::kCheckpoint) checkpoints_.take(task.order.id, place_of(done));
}

/// Called when all ranks have answered the stop. They have dropped all unanswered orders.
void RunAgenda::close_stop(const OrderDone& done) {
  stop_->state = Stop::State::kAnswered;
  ended_ = true;
  open_.drop();
  planned_.clear();
  // Nothing has to be saved if the last checkpoint was taken at the same place. A place includes the position in the
  // data, because a skipped step changes only this position.
  if (settings_.mode == RunMode::kFit && !checkpoints_.taken_at(place_of(done))) {
    plan_checkpoint(stop_->checkpoint_reason, false);
  }
}

void RunAgenda::stop(const std::string& reason, CheckpointReason checkpoint_reason) {
  // Only the first call has an effect.
  if (stop_ || (ended_ && idle())) return;
  planned_.clear();
  stop_ = Stop{reason, checkpoint_reason};
}

bool RunAgenda::add_checkpoint() {
  if (stop_ || ended_ || !saves()) return false;
  Task task{order_of(OrderKind::kCheckpoint)};
  task.reason = CheckpointReason::kRequested;
  // The checkpoint must contain the results of an evaluation that is still open.
  task.waits = open_.has_evaluation();
  // Sent before all planned tasks.
  planned_.push_front(std::move(task));
  return true;
}

// Uses the purpose kRequested, because a requested validation must not affect early stopping.
bool RunAgenda::add_validation() {
  if (stop_ || ended_ || validation_.splits().empty()) return false;
  std::deque<Task> tasks;
  plan_evaluation(Purpose::kRequested, tasks);
  planned_.insert(planned_.begin(), tasks.begin(), tasks.end());
  return true;
}

std::string RunAgenda::why_over() const {
  if (stop_ && settings_.mode == RunMode::kFit && step_done_ > 0) {
    return fmt::format("{} after step {}", stop_->reason, step_done_);
  }
  if (stop_) return stop_->reason;
  if (settings_.mode != RunMode::kFit) return fmt::format("{} done", name_of(settings_.mode));
  if (settings_.fast_dev_run) return "fast_dev_run done";
  if (timeline_.over()) return timeline_.why_over();
  const std::optional<double> best = validation_.stopping().best();
  return fmt::format("early stopping: '{}' has not improved for {} validations; {}", settings_.monitor,
                     validation_.stopping().waited(),
                     best ? fmt::format("best {}", *best) : "it was never a finite number");
}

std::optional<RunAgenda::Outcome> RunAgenda::outcome() const {
  // The run is over only when all checkpoints are on disk, or have failed.
  const bool ending = stop_ ? stop_->state == Stop::State::kAnswered : ended_;
  if (!ending || !idle() || !checkpoints_.all_written()) return {};
  if (checkpoints_.error().empty()) return Outcome{why_over(), true};
  return Outcome{fmt::format("{}, but the last checkpoint was not written: {}", why_over(), checkpoints_.error()),
                 false};
}

std::string RunAgenda::describe() const {
  std::string text{name_of(settings_.mode)};
  if (settings_.mode == RunMode::kFit) {
    const std::uint64_t total = timeline_.total_steps();
    text += fmt::format(": {} steps, {} per epoch", total == 0 ? "unbounded" : fmt::format("{}", total),
                        timeline_.steps_per_epoch());
    if (timeline_.step() > 0) text += fmt::format(", from step {} of epoch {}", timeline_.step(), timeline_.epoch());
  }
  for (const auto& split : validation_.splits()) text += fmt::format("; {}: {} batches", split.name, split.batches);
  return text;
}

}  // namespace trainyard::manager
