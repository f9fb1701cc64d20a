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

/// The plan that determines which order is sent next, from the first order to the end of the run. It uses neither
/// components nor a clock: its inputs are events, and its results are orders.
///
/// At most two orders are open at a time, the order that is being carried out and the next order, so that the other
/// components do not wait for the manager. An order that depends on a result is sent only after the result has arrived:
/// a checkpoint contains metrics, and training depends on the decision of early stopping.
///
/// A fit of 100 steps that validates every 50, with steps_per_order = 32:
///
///     train 32, train 18, evaluate, checkpoint "best" | train 32, train 18, evaluate | checkpoint "final"
///
/// A task is first planned, then sent as an order and open, and finally closed by the answer of the last rank.
class RunAgenda {
 public:
  /// `settings` must be resolved. `restored` is the state of the checkpoint if the run resumes one, and otherwise
  /// empty. Throws kNotFound and kInvalidArgument if the settings do not fit the dataset.
  RunAgenda(RunSettings settings, RunFacts facts, const RunState& start, const RestoredStates& restored = {});

  /// Returns the next order to send, or nothing if no order can be sent now. Must be called at the start and after
  /// every event, each time until it returns nothing.
  std::optional<Order> next();

  /// Records one rank's answer. An order is done when every rank has answered. The metrics of an evaluation are merged
  /// over the ranks, weighted by samples. Throws kInternal for an unknown order, or if the answers of the ranks
  /// contradict each other.
  void order_done(const OrderDone& done);
  /// Records that a checkpoint was written or could not be written. This message can arrive before the host's answer to
  /// the same order.
  void checkpoint_done(const CheckpointDone& done) { checkpoints_.write(done); }

  /// Ends the run after the current step, with a checkpoint if there is something new to save. Only the first
  /// call has an effect, and only before the last order. Several ranks first pause after the same step, because a rank
  /// that stopped inside a step would leave the other ranks waiting for its gradients.
  void stop(const std::string& reason, CheckpointReason checkpoint_reason = CheckpointReason::kInterrupted);

  /// Returns true if a stop saves a checkpoint, provided that there is something new to save.
  bool saves_on_stop() const { return facts_.writes_checkpoints && settings_.mode == RunMode::kFit; }

  /// Add a checkpoint or a validation that a user has requested. The order is sent before everything that is planned,
  /// as soon as fewer than two orders are open. Return false if the run is ending, or if the run writes no checkpoints
  /// or has nothing to validate.
  bool add_checkpoint();
  bool add_validation();

  /// Begin and end a pause, in which all ranks rest after the same step. During a pause no new work is ordered.
  void pause() { pause_.want(); }
  void go_on() {
    if (!stop_) pause_.end();
  }
  /// Returns true if all ranks are at rest, or have nothing left to do.
  bool resting() const { return pause_.resting() || outcome().has_value(); }

  /// Sets the list of changed parameters that checkpoints record.
  void record(std::vector<Setting> settings) { changed_ = std::move(settings); }

  /// Returns the newest step that is known to be done.
  std::uint64_t step_done() const { return step_done_; }

  /// The outcome of the run. `success` is false if the last checkpoint could not be written.
  struct Outcome {
    std::string reason;
    bool success = true;
  };
  /// Returns the outcome of the run, or nothing while there is something left to do.
  std::optional<Outcome> outcome() const;

  /// Returns a human-readable description of the agenda in one line.
  std::string describe() const;

 private:
  /// A stop that was requested, and its progress.
  struct Stop {
    enum class State : std::uint8_t { kWanted, kSent, kAnswered };
    std::string reason;
    CheckpointReason checkpoint_reason = CheckpointReason::kInterrupted;
    State state = State::kWanted;
  };

  // Returns the order to pause or to go on, if one is due.
  std::optional<Order> next_pause();

  // Plans the next tasks, if they can be determined already.
  void plan();
  void plan_start();
  void plan_training();
  void plan_end();
  void plan_checkpoint(CheckpointReason reason, bool waits);
  void plan_evaluation(Purpose purpose, std::deque<Task>& into) const;
  // Returns the stop order, then the last checkpoint, then nothing.
  std::optional<Order> next_while_stopping();
  // Issues the first planned task.
  Order issue_planned();
  // Sets the id of the order and the values that are known only when it is sent. The task is open afterwards.
  Order issue(Task task);
  Order order_of(OrderKind kind) const;
  // Returns true if the next task depends on a validation that is still open.
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

  std::deque<Task> planned_;  ///< Planned, but not sent.
  OpenOrders open_;           ///< Sent, but not answered by all ranks.
  bool ended_ = false;        ///< True when nothing more will be planned.
  Pause pause_;
  std::uint64_t step_done_ = 0;
  std::vector<Setting> changed_;
  std::optional<Stop> stop_;
  CheckpointRecord checkpoints_;
};

}  // namespace trainyard::manager
