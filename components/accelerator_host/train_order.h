// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "components/accelerator_host/active_order.h"

namespace trainyard::host {

/// Carries out an order to train. Each step uses Order::micro_batches batches, but the last step of the order can use
/// fewer. The gradients of each step are passed to the optimizer.
///
///     kAccumulating -> kUpdating        the gradients have been sent to the optimizer
///     kAccumulating -> kHolding         the gradients are complete, but the arena is still being read
///     kHolding      -> kUpdating        the arena is free, so the gradients have been sent
///     kHolding      -> kAccumulating    the arena is free, but this rank makes no update in this step
///     kUpdating     -> kAccumulating    the optimizer has answered
///
/// A step whose gradients are not finite can be skipped (GradientScaling): the optimizer does not receive them, and the
/// number of steps done (RunPosition::step) does not increase, but the batches count as used.
class TrainOrder final : public ActiveOrder {
 public:
  TrainOrder(const std::shared_ptr<const Order>& order, Workplace& workplace)
      : ActiveOrder(order, workplace, order->batches) {}

  bool busy() const override { return phase_ != Phase::kAccumulating; }
  bool between_units() const override { return micro_batch_ == 0; }
  void abandon() override;
  void on_arena_free() override;

 private:
  /// The phases of a step.
  enum class Phase {
    kAccumulating,  ///< The step needs another micro-batch.
    /// The gradients are complete, but another component still reads the parameters, so the optimizer must wait.
    kHolding,
    kUpdating,  ///< The optimizer may change the parameters until it answers.
  };
  /// Changes `phase_`. No other function does so. Throws kInternal if the change is not one of those listed above.
  void enter(Phase next);

  void use(const Batch& batch) override;
  void conclude(OrderDone& done) override;
  std::uint64_t awaited_update() const override { return phase_ == Phase::kUpdating ? update_ : 0; }
  void update_made(double learning_rate) override { end_step(learning_rate); }
  void begin_step(const Batch& batch);
  void accumulate(const Batch& batch);
  double weight_of(const Batch& batch) const;
  void end_accumulation();
  void skip_step(const SkippedStep& skipped);
  void hand_over_gradients();
  void end_step(double learning_rate);
  void record_step();

  Phase phase_ = Phase::kAccumulating;
  // These members describe the current step.
  std::uint64_t micro_batch_ = 0;    ///< The number of micro-batches of the current step that are done.
  std::uint64_t micro_batches_ = 0;  ///< The number of micro-batches of the current step.
  std::uint64_t batch_ = 0;          ///< The index of the newest micro-batch in its epoch.
  std::uint64_t update_ = 0;  ///< The number of the update that the step makes; 0 if the optimizer gets no gradients.
  bool reported_ = false;     ///< True if the metrics of the step will be reported.
  /// When the step began, in nanoseconds; 0 if nobody recorded spans (trainyard trace) at that moment.
  std::int64_t step_began_ns_ = 0;
  StepOutcome outcome_;  ///< The outcome of the step. Its losses are kept only if the step will be reported.
};

}  // namespace trainyard::host
