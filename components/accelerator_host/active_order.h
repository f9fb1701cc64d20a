// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "components/accelerator_host/workplace.h"
#include "messages/batch.h"
#include "messages/order.h"
#include "messages/step.h"

namespace trainyard::host {

/// An order that an accelerator host is carrying out. An order is a message from the strategy manager, such as "train
/// 32 batches".
///
///     begin() -> consume(), once for each batch -> complete() -> finish()
///
/// Between two batches, the order can be busy: it waits for the optimizer, or for other components that are reading the
/// arena (the memory with the parameters). A busy order gets no batches. If an order to stop arrives, abandon() is
/// called instead of finish().
class ActiveOrder {
 public:
  /// `batches` is the number of batches that the order consumes.
  ActiveOrder(std::shared_ptr<const Order> order, Workplace& workplace, std::uint64_t batches)
      : order_(std::move(order)), workplace_(workplace), batches_(batches) {}
  virtual ~ActiveOrder() = default;
  ActiveOrder(const ActiveOrder&) = delete;
  ActiveOrder& operator=(const ActiveOrder&) = delete;

  /// Begins the order. Called once, after the previous order has finished.
  virtual void begin() {}

  /// Processes one batch and counts it. Called only while the order is neither busy nor complete. Throws kInternal if
  /// the batch belongs to another order.
  void consume(const Batch& batch);

  /// Returns true while the order waits for the optimizer or for components that read the parameters.
  virtual bool busy() const { return false; }
  /// Returns true if all batches have been used and the order is not busy.
  bool complete() const { return used_ == batches_ && !busy(); }

  /// Returns true if a pause may interrupt the order now, because the next batch begins a new unit of work, such as a
  /// training step (turnstile.h).
  virtual bool between_units() const { return true; }

  /// Finishes the order, which must be complete, and returns the answer for the strategy manager.
  OrderDone finish();

  /// Ends the order without an answer, because an order to stop has arrived. Discards a step or an evaluation that has
  /// begun.
  virtual void abandon() {}

  /// Called with the answer of the optimizer after an update. Throws kInternal if the order is not waiting for this
  /// update.
  void on_parameters(const Parameters& message);
  /// Called when no other component reads the rank's parameters any more: the checkpoint writer has made all requested
  /// copies, and every reader (ArenaReaders) has answered.
  virtual void on_arena_free() {}

  /// Returns the number of batches that the order has used.
  std::uint64_t used() const { return used_; }
  /// Returns the number of samples in the batches that the order has used.
  std::uint64_t samples() const { return samples_; }

 protected:
  /// Processes one batch of this order. used() and samples() already include it.
  virtual void use(const Batch& batch) = 0;
  /// Called by finish(). Completes the work of the order, and adds to the answer the results that only this kind of
  /// order has.
  virtual void conclude(OrderDone&) {}
  /// Returns the number, counted from 1, of the update for which the order waits, or 0 if it waits for none.
  virtual std::uint64_t awaited_update() const { return 0; }
  /// Called when the optimizer has made the update for which the order waits.
  virtual void update_made(double /*learning_rate*/) {}

  const Order& order() const { return *order_; }
  Workplace& workplace() const { return workplace_; }

 private:
  std::shared_ptr<const Order> order_;
  Workplace& workplace_;
  std::uint64_t batches_;
  std::uint64_t used_ = 0;
  std::uint64_t samples_ = 0;
};

/// Returns true if the order is a single unit of work (turnstile.h), which a pause cannot interrupt: a checkpoint, or
/// the generation of output without input.
bool is_one_unit(const Order& order);

/// Makes the object that carries out an order. If an order to stop arrives while another order is in progress,
/// construct a StopOrder instead. Throws kInternal for the orders `pause` and `go_on`, which only interrupt other
/// orders.
std::unique_ptr<ActiveOrder> make_active(const std::shared_ptr<const Order>& order, Workplace& workplace);

}  // namespace trainyard::host
