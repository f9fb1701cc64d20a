// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "components/strategy_manager/checkpoint_record.h"
#include "components/strategy_manager/open_orders.h"
#include "components/strategy_manager/pause.h"
#include "components/strategy_manager/run_facts.h"
#include "components/strategy_manager/run_settings.h"
#include "components/strategy_manager/task.h"
#include "components/strategy_manager/timeline.h"
#include "components/strategy_manager/validation.h"
#include "messages/order.h"
#include "messages/run_state.h"

namespace trainyard::manager {

/// Decides which orders the strategy manager sends to the other components, such as "train 32 batches", from the first
/// order to the end of the run. It depends neither on components nor on a clock: its inputs are events, and its results
/// are orders.
///
/// At most two orders are open (sent and not answered) at a time: the order that is being carried out, and the next
/// one, so that the other components need not wait for the strategy manager. An order that depends on results is sent
/// only when the results have arrived: a checkpoint contains metrics, and whether training continues can depend on
/// early stopping.
///
/// For example, a run of 100 steps with a validation every 50 steps and steps_per_order = 32:
///
///     train 32, train 18, evaluate, checkpoint "best", train 32, train 18, evaluate, checkpoint "final"
///
/// A task is first planned, then sent as an order (now it is open), and closed when all ranks have answered.
class RunAgenda {
 public:
  /// `settings` must be a result of resolved(). `start` is the position at which the run begins. `restored` contains
  /// the states in the checkpoint, and is empty if the run does not resume. Throws kNotFound or kInvalidArgument if the
  /// settings do not fit the dataset.
  RunAgenda(RunSettings settings, RunFacts facts, const RunState& start, const RestoredStates& restored = {});

  /// Returns the next order to send, or nothing if no order can be sent now. At the start and after every event, the
  /// caller must call this function until it returns nothing.
  std::optional<Order> next();

  /// Records one rank's answer to an order. When all ranks have answered an evaluation, their metrics are merged,
  /// weighted by samples. Throws kInternal for an unknown order, or if the answers of the ranks contradict each other.
  void order_done(const OrderDone& done);
  /// Records that a checkpoint was written or could not be written. Can be called before order_done() has been called
  /// for the same order.
  void checkpoint_done(const CheckpointDone& done) { checkpoints_.write(done); }

  /// Ends the run after the current step, with a checkpoint if there is something new to save. The outcome contains
  /// `reason`, and the checkpoint contains `checkpoint_reason`. Only the first call has an effect, and only if the run
  /// is not over yet. In a run with several ranks, the ranks first pause after the same step, because a rank that
  /// stopped within a step would leave the other ranks waiting for its gradients.
  void stop(const std::string& reason, CheckpointReason checkpoint_reason = CheckpointReason::kInterrupted);

  /// Returns true if the run saves checkpoints: a fit with a checkpoint writer, unless `fast_dev_run` is set.
  bool saves() const { return settings_.mode == RunMode::kFit && facts_.writes_checkpoints && !settings_.fast_dev_run; }

  /// These functions add a checkpoint or a validation that a user has requested. Its order is sent before all planned
  /// orders, as soon as possible. They return false if the run is ending, or if it writes no checkpoints or has nothing
  /// to validate.
  bool add_checkpoint();
  bool add_validation();

  /// These functions begin and end a pause, during which all ranks wait after the same step. No other orders are sent
  /// during a pause. After stop(), they have no effect: a run that is stopping pauses by itself if it must, and nothing
  /// would end a pause that came after the order to stop.
  void pause() {
    if (!stop_) pause_.want();
  }
  void go_on() {
    if (!stop_) pause_.end();
  }
  /// Returns true if all ranks wait because of a pause, or have nothing left to do.
  bool resting() const { return pause_.resting() || outcome().has_value(); }

  /// Sets the list of changed parameters that later checkpoints contain.
  void record(std::vector<Setting> settings) { changed_ = std::move(settings); }

  /// Returns the largest step number in any answer so far.
  std::uint64_t step_done() const { return step_done_; }

  /// The outcome of the run. `success` is false if the most recent checkpoint could not be written.
  struct Outcome {
    std::string reason;
    bool success = true;
  };
  /// Returns the outcome of the run, or nothing while there is something left to do.
  std::optional<Outcome> outcome() const;

  /// Returns a description of the run for the log, in one line.
  std::string describe() const;

 private:
  /// A requested stop, and its progress.
  struct Stop {
    enum class State : std::uint8_t { kWanted, kSent, kAnswered };
    std::string reason;
    CheckpointReason checkpoint_reason = CheckpointReason::kInterrupted;
    State state = State::kWanted;
  };

  // Returns the order to pause or to continue, if one must be sent now.
  std::optional<Order> next_pause();

  // Plans the next tasks, if they are known already.
  void plan();
  void plan_start();
  void plan_training();
  void plan_end();
  void plan_checkpoint(CheckpointReason reason, bool waits);
  void plan_evaluation(Purpose purpose, std::deque<Task>& into) const;
  // After stop(): returns the order to stop, then that of the last checkpoint, then nothing.
  std::optional<Order> next_while_stopping();
  // Returns the order of the first planned task, which is then open.
  Order issue_planned();
  // Sets the id of the order, and the values that are known only when it is sent. The task is open afterwards.
  Order issue(Task task);
  Order order_of(OrderKind kind) const;
  // Returns true if an open validation can still end the training by early stopping.
  bool decision_pending() const;
  void close(const OpenOrders::Closed& closed, const OrderDone& done);
  void close_stop(const OrderDone& done);
  std::vector<SavedState> states() const;
  bool idle() const { return planned_.empty() && open_.empty(); }
  std::string why_over() const;

  RunSettings settings_;
  RunFacts facts_;
  Timeline timeline_;
  Validation validation_;

  std::deque<Task> planned_;  ///< Tasks whose orders have not been sent.
  OpenOrders open_;           ///< Tasks whose orders have been sent, but not been answered by all ranks.
  bool ended_ = false;        ///< True when nothing more will be planned.
  Pause pause_;
  std::uint64_t step_done_ = 0;
  std::vector<Setting> changed_;
  std::optional<Stop> stop_;
  CheckpointRecord checkpoints_;
};

}  // namespace trainyard::manager
