// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "components/strategy_manager/pause.h"
#include "components/strategy_manager/run_facts.h"
#include "components/strategy_manager/run_settings.h"
#include "components/strategy_manager/timeline.h"
#include "components/strategy_manager/validation.h"
#include "messages/order.h"
#include "messages/reduction.h"
#include "messages/run_state.h"

namespace trainyard::manager {

/// Why a checkpoint is taken. In orders and file names it is a word.
enum class CheckpointReason : std::uint8_t {
  kInterval,     ///< It was due by checkpoint_every_steps or checkpoint_every_epochs.
  kValidation,   ///< It follows a validation that was not the best so far.
  kBest,         ///< It follows the best validation so far.
  kFinal,        ///< The training is done.
  kRequested,    ///< It was requested through the service `checkpoint`.
  kInterrupted,  ///< The run was stopped.
};
constexpr auto words_of(CheckpointReason) {
  return words("reason for a checkpoint", "interval", "validation", "best", "final", "requested", "interrupted");
}

/// Decides which order is sent next, from the first order to the end of the run. It depends on neither components nor
/// time: its inputs are events, and its results are orders.
///
/// Two orders are open at a time, the one that is being carried out and the next one, so that the other components do
/// not wait for the manager. An order that depends on a result waits for it: a checkpoint for the metrics that it
/// carries, training for the decision of early stopping.
///
/// A fit of 100 steps that validates every 50, with steps_per_order = 32:
///
///     train 32, train 18, evaluate, checkpoint "best" | train 32, train 18, evaluate | checkpoint "final"
///
/// A task is first planned, then sent as an order and open, and finally closed by the answer of the last rank.
class RunAgenda {
 public:
  /// `settings` must be resolved. `restored` is the state of the checkpoint that the run resumes, if it does. Throws
  /// kNotFound and kInvalidArgument if the settings do not fit the dataset.
  RunAgenda(RunSettings settings, RunFacts facts, const RunState& start, const RestoredStates& restored = {});

  /// Returns the next order to send; empty if none can be sent now. Call it at the start and after every event, each
  /// time until it returns nothing.
  std::optional<Order> next();

  /// Records one rank's answer. An order is done when every rank has answered. The metrics of an evaluation are merged
  /// over the ranks, weighted by samples. Throws kInternal for an unknown order or ranks that disagree.
  void order_done(const OrderDone& done);
  /// Records that a checkpoint was written, or that this failed. The report may arrive before the host's answer to the
  /// same order.
  void checkpoint_done(const CheckpointDone& done);

  /// Ends the run after the step that is under way, with a checkpoint if there is something new to save. Only the first
  /// call has an effect, and none after the last order. Several ranks first come to rest after the same step, because a
  /// rank that stopped inside a step would leave the others waiting for its gradients.
  void stop(const std::string& reason, CheckpointReason checkpoint_reason = CheckpointReason::kInterrupted);

  /// Add an order that a user has requested; it is sent before everything that is planned, as soon as fewer than two
  /// orders are open. Return false if the run is ending, or if it writes no checkpoints or has nothing to validate.
  bool add_checkpoint();
  bool add_validation();

  /// Brings all ranks to rest between two steps, or lets them go on. Nothing new is sent meanwhile.
  void pause() { pause_.want(); }
  void go_on() {
    if (!stop_) pause_.end();
  }
  /// Returns true if all ranks are at rest, or have nothing left to do.
  bool resting() const { return pause_.resting() || outcome().has_value(); }

  /// Sets what checkpoints record as changed during the run.
  void record(std::vector<Setting> settings) { changed_ = std::move(settings); }

  /// Returns the newest step that is known to be done.
  std::uint64_t step_done() const { return step_done_; }

  /// How the run ended. `success` is false if its last checkpoint could not be written.
  struct Outcome {
    std::string reason;
    bool success = true;
  };
  /// Returns how the run ended; empty until nothing is left to do.
  std::optional<Outcome> outcome() const;

  /// Returns a human-readable description of the agenda in one line.
  std::string describe() const;

 private:
  /// A point in training: the step, and the cursor's epoch and number of samples. At equal points the parameters are
  /// the same, and training continues with the same batch.
  using Place = std::array<std::uint64_t, 3>;
  static Place place_of(const OrderDone& done) { return {done.step, done.cursor.epoch, done.cursor.samples}; }

  // What an evaluation is for. A planned one counts for early stopping and as a result, a requested one only as a
  // result, and a sanity check for neither.
  enum class Purpose { kPlanned, kRequested, kSanity };

  struct Task {
    Order order;
    bool waits = false;  ///< True if it waits for all open orders.
    Purpose purpose = Purpose::kPlanned;
    CheckpointReason reason = CheckpointReason::kInterval;  ///< The reason, if the order is a checkpoint.
    std::uint32_t answers = 0;
    std::uint64_t step = 0;  ///< The step in the first answer.
    /// The answers to an evaluation, by rank. They are added up in the order of the ranks, whichever arrived first.
    std::map<std::uint32_t, OrderDone> measured;
  };

  struct Stop {
    std::string reason;
    CheckpointReason checkpoint_reason = CheckpointReason::kInterrupted;
    bool sent = false;
    bool answered = false;
  };

  // Returns the order to pause or to go on, if one is due.
  std::optional<Order> next_pause();

  // Puts the next tasks on the agenda, if they can be known yet.
  void plan();
  void plan_start();
  void plan_training();
  void plan_end();
  void plan_checkpoint(CheckpointReason reason, bool waits);
  void plan_evaluation(Purpose purpose, std::deque<Task>& into) const;
  // Returns the stop order, then the last checkpoint, then nothing.
  std::optional<Order> next_while_stopping();
  // Gives the order its id and the values that are known only now. The task is open from then on.
  Order issue(Task task);
  Order order_of(OrderKind kind) const;
  // Returns true if the next task depends on a validation that is open.
  bool decision_pending() const;
  void close(const Task& task, const OrderDone& done);
  void close_stop(const OrderDone& done);
  std::vector<SavedState> states() const;
  bool idle() const { return planned_.empty() && open_.empty(); }
  std::string why_over() const;

  RunSettings settings_;
  RunFacts facts_;
  Timeline timeline_;
  Validation validation_;

  std::deque<Task> planned_;  ///< Planned, but not sent.
  std::deque<Task> open_;     ///< Sent, but not answered by all ranks.
  std::uint64_t last_id_ = 0;
  bool ended_ = false;  ///< True when nothing more will be planned.
  Pause pause_;
  std::uint64_t step_done_ = 0;
  std::vector<Setting> changed_;
  std::optional<Stop> stop_;

  std::optional<std::uint64_t> planned_checkpoint_;  ///< The step of the checkpoint that was planned last.
  std::optional<Place> taken_checkpoint_;            ///< Where the last checkpoint was taken, or where the run began.
  std::set<std::uint64_t> unwritten_;                ///< Checkpoint orders that are not on disk yet.
  std::set<std::uint64_t> written_early_;  ///< Checkpoint orders that were on disk before the host's answer arrived.
  std::string checkpoint_error_;           ///< The error of the newest checkpoint.
};

}  // namespace trainyard::manager
