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

/// The orders that were sent but that some rank has not answered yet. OpenOrders also assigns the ids of orders, which
/// count up without gaps.
class OpenOrders {
 public:
  explicit OpenOrders(std::uint32_t ranks) : ranks_(ranks) {}

  /// Returns the id that the next order will have.
  std::uint64_t next_id() const { return last_id_ + 1; }
  /// Assigns the next id to an order that is not kept here, and returns this id.
  std::uint64_t take_id() { return ++last_id_; }

  /// Sets the id of the task's order, and keeps the task until all ranks have answered. Returns the order to send.
  Order open(Task task);

  /// A task that all ranks have answered.
  struct Closed {
    Task task;
    /// The answers to an evaluation, indexed by rank. They are merged in the order of the ranks, not in the order of
    /// arrival.
    std::map<std::uint32_t, OrderDone> measured;
  };
  /// Records one rank's answer. Returns the task if this was the last missing answer, and otherwise nothing. Throws
  /// kInternal for an order that is not open, and if the ranks answer at different steps.
  std::optional<Closed> answered(const OrderDone& done);

  /// Removes all orders, because the ranks have dropped them for a stop.
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
