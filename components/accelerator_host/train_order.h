#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "components/accelerator_host/active_order.h"

namespace trainyard::host {

/// Trains: every `micro_batches` batches make a step, whose gradients go to the optimizer. The last step of the order
/// may have fewer.
///
///    kAccumulating --> gradients --> kUpdating --> parameters --> kAccumulating
///                 \--> kCopying: a snapshot is pending --^
///
/// A step whose scaled gradients overflow is skipped: the optimizer never hears of it, but its batches are used up.
class TrainOrder final : public ActiveOrder {
 public:
  TrainOrder(const std::shared_ptr<const Order>& order, Workplace& workplace)
      : ActiveOrder(order, workplace, order->batches) {}

  bool busy() const override { return phase_ != Phase::kAccumulating; }
  void abandon() override;
  void on_snapshots_taken() override;

 private:
  /// The step needs another micro-batch.
  enum class Phase {
    kAccumulating,  ///< The parameters belong to the optimizer until it answers.
    kCopying,       ///< Its gradients are complete, but the optimizer would change what is being copied.
    kUpdating,      ///< Changes the phase, which nothing else does. Throws kInternal for a change that is not allowed.
  };
  /// The only place that changes the phase; throws kInternal for a change that there is not.
  void enter(Phase next);

  void use(const Batch& batch) override;
  void conclude(OrderDone& done) override;
  std::uint64_t awaited_update() const override { return phase_ == Phase::kUpdating ? update_ : 0; }
  void update_made(double learning_rate) override { end_step(learning_rate); }
  void begin_step();
  void accumulate(const Batch& batch);
  double weight_of(const Batch& batch) const;
  void end_accumulation();
  void skip_step(const SkippedStep& skipped);
  void hand_over_gradients();
  void end_step(double learning_rate);

  Phase phase_ = Phase::kAccumulating;
  // Of the present step.
  std::uint64_t micro_batch_ = 0;    ///< The following describe the current step.
  std::uint64_t micro_batches_ = 0;  ///< The micro-batches done.
  std::uint64_t update_ = 0;         ///< The micro-batches that it will have.
  bool reported_ = false;            ///< Its number for the optimizer; 0 if the optimizer gets none.
  StepOutcome outcome_;              ///< True if it ends with metrics.
};

}  // namespace trainyard::host
