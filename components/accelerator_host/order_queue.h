// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

#include "core/component/input.h"
#include "messages/batch.h"
#include "messages/order.h"

namespace trainyard::host {

/// A batch and its trace: a number that is passed on in all messages that the batch causes, even in those that are sent
/// later, while another message is handled.
struct ReceivedBatch {
  std::shared_ptr<const Batch> batch;  ///< Null if no batch is stored.
  std::uint64_t trace = 0;
};

/// The orders that an accelerator host has received but not begun yet, and at most one batch that has arrived before it
/// is needed.
///
/// While a batch is stored here, the input of batches is paused. Further batches then wait in the edge (the connection
/// from the data loader). When the edge has no credit left, because the maximum number of messages is in flight, the
/// data loader stops sending. A batch of an order that has already been answered is dropped, which returns its credit.
class OrderQueue {
 public:
  /// `batches` is the component's input of batches, which the queue pauses and resumes.
  explicit OrderQueue(InputBase& batches) : batches_(batches) {}

  void push(std::shared_ptr<const Order> order) { orders_.push_back(std::move(order)); }
  bool has_orders() const { return !orders_.empty(); }
  /// Returns the next order. There must be one.
  const Order& front() const { return *orders_.front(); }
  /// Removes and returns the next order. There must be one.
  std::shared_ptr<const Order> pop();
  /// If the queue contains an order to stop, removes and returns it, and drops all orders before it. Otherwise returns
  /// null.
  std::shared_ptr<const Order> pop_stop();

  /// Stores a batch until take_batch() is called. No other batch may be stored. Returns false if the batch is dropped
  /// instead, because its order has already been answered or the run is ending.
  bool offer(ReceivedBatch received);
  bool has_batch() const { return received_.batch != nullptr; }
  /// Removes and returns the stored batch. If no batch is stored, the field `batch` of the result is null.
  ReceivedBatch take_batch() { return std::exchange(received_, {}); }

  /// Records that all orders with ids up to `order` have been answered. Drops the stored batch if it belongs to one of
  /// these orders.
  void finished(std::uint64_t order);
  /// Pauses the input of batches if a batch is stored, and otherwise resumes it. Call this function after every use of
  /// the queue, as the last action of a handler, because resuming can deliver the next batch immediately.
  void regulate_batches();

  /// Called when the run is ending. Drops the stored orders, the stored batch and all batches that arrive later, so
  /// that no sender is blocked.
  void close();
  bool closed() const { return closed_; }

 private:
  InputBase& batches_;
  std::deque<std::shared_ptr<const Order>> orders_;
  ReceivedBatch received_;
  std::uint64_t finished_ = 0;
  bool closed_ = false;
};

}  // namespace trainyard::host
