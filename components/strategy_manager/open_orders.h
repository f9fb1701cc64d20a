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

/// Keeps the orders that have been sent but not yet answered by all ranks. Also assigns the ids of orders, which are
/// consecutive numbers.
class OpenOrders {
 public:
  explicit OpenOrders(std::uint32_t ranks) : ranks_(ranks) {}

  /// Returns the id that the next order will have.
  std::uint64_t next_id() const { return last_id_ + 1; }
  /// Assigns the next id to an order that this object does not keep, such as an order to pause, and returns the id.
  std::uint64_t take_id() { return ++last_id_; }

  /// Assigns an id to the task's order, and keeps the task until all ranks have answered. Returns the order, which the
  /// caller must send.
  Order open(Task task);

  /// A task that all ranks have answered.
  struct Closed {
    Task task;
    /// The answer of each rank to an evaluation; empty for other orders. A map, so that answers are merged in the order
    /// of the ranks.
    std::map<std::uint32_t, OrderDone> measured;
  };
  /// Records one rank's answer. Returns the task if all ranks have now answered, otherwise nothing. Throws kInternal
  /// for an order that is not open, and if the ranks have answered the order after different numbers of steps,
  /// including skipped ones.
  std::optional<Closed> answered(const OrderDone& done);

  /// Forgets all open orders. Called when the ranks have carried out an order to stop, and have dropped all others.
  void drop() { open_.clear(); }

  bool empty() const { return open_.empty(); }
  std::size_t size() const { return open_.size(); }
  bool has_evaluation() const;
  bool has_evaluation(Purpose purpose) const;

 private:
  struct Entry {
    Closed content;
    std::uint32_t answers = 0;
    std::uint64_t all_steps = 0;  ///< OrderDone::all_steps in the first answer.
  };

  std::uint32_t ranks_;
  std::deque<Entry> open_;
  std::uint64_t last_id_ = 0;
};

}  // namespace trainyard::manager
