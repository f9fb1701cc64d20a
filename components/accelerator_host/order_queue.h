#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "core/component/input.h"
#include "messages/batch.h"
#include "messages/order.h"

namespace trainyard::host {

/// Orders that wait for their turn, and the one batch that is taken in ahead of its use.
///
/// Further batches wait in their edge: the input is paused as long as there is one here, and the edge's credits hold
/// the loader back. What belongs to an order that is finished or was given up is dropped, which returns its credit.
class OrderQueue {
 public:
  /// `batches` is paused and resumed; it belongs to the component.
  explicit OrderQueue(InputBase& batches) : batches_(batches) {}

  void push(std::shared_ptr<const Order> order) { orders_.push_back(std::move(order)); }
  bool has_orders() const { return !orders_.empty(); }
  /// The next one; only if there is one.
  std::shared_ptr<const Order> pop();
  /// A stop overtakes every order before it: takes it and drops those. Null if none is asked for.
  std::shared_ptr<const Order> pop_stop();

  /// Keeps a batch until it is taken; false if it was dropped.
  bool offer(const std::shared_ptr<const Batch>& batch);
  /// The batch that is here, if any.
  std::shared_ptr<const Batch> take_batch() { return std::exchange(batch_, nullptr); }

  /// This order was answered; ids only grow, so those before it are done with, too.
  void finished(std::uint64_t order);
  /// Lets in another batch, or keeps them out. The last act of whoever used the queue: a batch that comes in calls
  /// back.
  void regulate_batches();

  /// The run is ending: drops everything, now and later, so that nobody who still sends is blocked.
  void close();
  bool closed() const { return closed_; }

 private:
  InputBase& batches_;
  std::deque<std::shared_ptr<const Order>> orders_;
  std::shared_ptr<const Batch> batch_;
  std::uint64_t finished_ = 0;
  bool closed_ = false;
};

}  // namespace trainyard::host
