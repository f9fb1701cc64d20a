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

/// One order while it is carried out: it begins, consumes its batches, and finishes with its answer.
///
///     begin() -> consume(batch) as often as the order has batches -> complete() -> finish()
///
/// In between it may be busy, which means that it waits for the optimizer or the checkpoint writer; it is then given no
/// batch. A stop ends it by abandon() instead.
class ActiveOrder {
 public:
  /// `batches` is the number of batches that the order consumes.
  ActiveOrder(std::shared_ptr<const Order> order, Workplace& workplace, std::uint64_t batches)
      : order_(std::move(order)), workplace_(workplace), batches_(batches) {}
  virtual ~ActiveOrder() = default;
  ActiveOrder(const ActiveOrder&) = delete;
  ActiveOrder& operator=(const ActiveOrder&) = delete;

  /// Starts the order. Called when it is this order's turn.
  virtual void begin() {}

  /// Uses one batch. Called only while the order is neither busy nor complete. Throws kInternal for a batch of another
  /// order.
  void consume(const Batch& batch);

  /// Returns true while the order waits for the optimizer or the checkpoint writer.
  virtual bool busy() const { return false; }
  bool complete() const { return used_ == batches_ && !busy(); }

  /// Returns true if it could be interrupted now, because what follows is a unit of its own (turnstile.h).
  virtual bool between_units() const { return true; }

  /// Ends the order, which must be complete, and returns its answer.
  OrderDone finish();

  /// Ends the order when a stop overtakes it. A step or an evaluation that has begun is given up as a whole.
  virtual void abandon() {}

  /// Called when the optimizer has answered. Throws kInternal if this order waits for no answer, or for that of another
  /// update.
  void on_parameters(const Parameters& message);
  /// Called when nobody reads the arena any more: every copy that the checkpoint writer was asked for is made, and
  /// every reader has answered.
  virtual void on_arena_free() {}

  /// Return the number of batches that the order has used, and the number of samples in them.
  std::uint64_t used() const { return used_; }
  std::uint64_t samples() const { return samples_; }

 protected:
  /// Uses one batch of this order, which used() and samples() count already.
  virtual void use(const Batch& batch) = 0;
  /// Ends what was begun, and adds the results of this kind of order to the answer, whose other fields are already set.
  virtual void conclude(OrderDone&) {}
  /// Returns the number of the update that the optimizer was asked for; 0 if it was not asked.
  virtual std::uint64_t awaited_update() const { return 0; }
  /// Called when the optimizer has made the awaited update.
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

/// Returns true if the order is a unit as a whole, because it has no batches that could be counted.
bool is_one_unit(const Order& order);

/// Makes the object that carries out this order. For a stop that overtakes another order, construct a StopOrder
/// instead.
std::unique_ptr<ActiveOrder> make_active(const std::shared_ptr<const Order>& order, Workplace& workplace);

}  // namespace trainyard::host
