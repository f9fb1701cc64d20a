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

/// A batch, and the trace of its message. Messages that result from the batch carry this trace, even if they are sent
/// while another message is handled.
struct ReceivedBatch {
  std::shared_ptr<const Batch> batch;  ///< Null if no batch is stored.
  std::uint64_t trace = 0;
};

/// The orders that wait to be carried out, and one batch that was received before it was needed.
///
/// Further batches wait on their edge: the input is paused while a batch is stored here, and the edge's credits hold
/// the loader back. A batch of an order that has already been answered is dropped, which returns its credit.
class OrderQueue {
 public:
  /// `batches` is the component's input, which the queue pauses and resumes.
  explicit OrderQueue(InputBase& batches) : batches_(batches) {}

  void push(std::shared_ptr<const Order> order) { orders_.push_back(std::move(order)); }
  bool has_orders() const { return !orders_.empty(); }
  /// Returns the next order. There must be one.
  const Order& front() const { return *orders_.front(); }
  /// Removes and returns the next order. There must be one.
  std::shared_ptr<const Order> pop();
  /// If one of the orders is a stop, drops every order before the stop, then removes and returns the stop. Otherwise
  /// returns null.
  std::shared_ptr<const Order> pop_stop();

  /// Stores a batch for take_batch(). Returns false if the batch was dropped, because its order is done or the queue is
  /// closed.
  bool offer(ReceivedBatch received);
  bool has_batch() const { return received_.batch != nullptr; }
  /// Removes and returns the stored batch; `batch` is null in the result if no batch is stored.
  ReceivedBatch take_batch() { return std::exchange(received_, {}); }

  /// Records that the order with this id was answered. Ids only increase, so all earlier orders are done, too. Drops
  /// the stored batch if its order is done.
  void finished(std::uint64_t order);
  /// Pauses the input of batches if a batch is stored, and otherwise resumes it. Call this after every use of the
  /// queue, as the last function, because resuming may immediately deliver a batch.
  void regulate_batches();

  /// Drops the stored orders and all present and future batches, because the run is ending. In this way no sender is
  /// blocked.
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
