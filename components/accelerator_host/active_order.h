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

/// An order that is being carried out. It begins, consumes its batches, and finishes with its answer.
///
///     begin() -> consume(batch) as often as the order has batches -> complete() -> finish()
///
/// Between two batches the order may be busy, which means that it waits for the optimizer, the checkpoint writer or a
/// reader of the arena. A busy order receives no batch. If a stop overtakes the order, abandon() is called instead of
/// finish().
class ActiveOrder {
 public:
  /// `batches` is the number of batches that the order consumes.
  ActiveOrder(std::shared_ptr<const Order> order, Workplace& workplace, std::uint64_t batches)
      : order_(std::move(order)), workplace_(workplace), batches_(batches) {}
  virtual ~ActiveOrder() = default;
  ActiveOrder(const ActiveOrder&) = delete;
  ActiveOrder& operator=(const ActiveOrder&) = delete;

  /// Begins the order. Called when the orders before it are done.
  virtual void begin() {}

  /// Counts one batch and uses it. Called only while the order is neither busy nor complete. Throws kInternal for a
  /// batch of another order.
  void consume(const Batch& batch);

  /// Returns true while the order waits for the optimizer, the checkpoint writer or a reader of the arena.
  virtual bool busy() const { return false; }
  /// Returns true if all batches have been used and the order is not busy.
  bool complete() const { return used_ == batches_ && !busy(); }

  /// Returns true if the ranks may pause now, because no unit of this order is half done (turnstile.h).
  virtual bool between_units() const { return true; }

  /// Finishes the order, which must be complete, and returns its answer.
  OrderDone finish();

  /// Cancels the order, because a stop overtakes it. A step or an evaluation that has begun is discarded as a whole.
  virtual void abandon() {}

  /// Called when the optimizer has answered. Throws kInternal if this order does not wait for an answer, or waits for
  /// the answer to another update.
  void on_parameters(const Parameters& message);
  /// Called when the arena is no longer being read: the checkpoint writer has made every copy that was requested, and
  /// every reader has answered.
  virtual void on_arena_free() {}

  /// Return the number of batches that the order has used, and the number of samples in them.
  std::uint64_t used() const { return used_; }
  std::uint64_t samples() const { return samples_; }

 protected:
  /// Uses one batch of this order. used() and samples() already include the batch.
  virtual void use(const Batch& batch) = 0;
  /// Ends what begin() started, and adds the results of the order to the answer. The fields that all kinds of orders
  /// have are already set.
  virtual void conclude(OrderDone&) {}
  /// Returns the number of the update for which the order waits, or 0 if it waits for none.
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

/// Returns true if the whole order is one unit, because it has no batches.
bool is_one_unit(const Order& order);

/// Makes the ActiveOrder for an order. For a stop that overtakes another order, construct a StopOrder instead. Throws
/// kInternal for a pause and its end, which interrupt orders and are not carried out.
std::unique_ptr<ActiveOrder> make_active(const std::shared_ptr<const Order>& order, Workplace& workplace);

}  // namespace trainyard::host
