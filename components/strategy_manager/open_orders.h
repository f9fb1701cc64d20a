// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "components/strategy_manager/task.h"
#include "messages/order.h"

namespace trainyard::manager {

/// The orders that were sent but not yet answered by all ranks. This class also assigns the ids of all orders, which
/// are consecutive numbers in the order of sending.
class OpenOrders {
 public:
  explicit OpenOrders(std::uint32_t ranks) : ranks_(ranks) {}

  /// Returns the id of the next order.
  std::uint64_t next_id() const { return last_id_ + 1; }
  /// Uses up the next id and returns it, for an order that is not stored here.
  std::uint64_t take_id() { return ++last_id_; }

  /// Sets the id of the task's order, and stores the task until all ranks have answered. Returns the order with its id,
  /// ready to be sent.
  Order open(Task task);

  /// A task that all ranks have answered.
  struct Closed {
    Task task;
    /// The answers to an evaluation, by rank. They are merged in the order of the ranks, so that the result does not
    /// depend on the order of arrival.
    std::map<std::uint32_t, OrderDone> measured;
  };
  /// Records one rank's answer. Returns the task if this was the last missing answer to it. Throws kInternal for an
  /// order that is not open, and for ranks that answer at different steps.
  std::optional<Closed> answered(const OrderDone& done);

  /// Removes all open orders, because the ranks have dropped them for a stop.
  void drop() { open_.clear(); }

  bool empty() const { return open_.empty(); }
  std::size_t size() const { return open_.size(); }
  bool has_evaluation() const;
  bool has_evaluation(Purpose purpose) const;

 private:
  struct Entry {
    Closed content;
    std::uint32_t answers = 0;
    std::uint64_t step = 0;  ///< The step in the first answer.
  };

  std::uint32_t ranks_;
  std::deque<Entry> open_;
  std::uint64_t last_id_ = 0;
};

}  // namespace trainyard::manager
