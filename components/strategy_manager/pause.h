// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "messages/order.h"

namespace trainyard::manager {

/// A pause of all ranks after a step on which they agree. Afterwards the interrupted orders are continued or dropped.
///
///     kWorking -> kWanted -> kComing: the order is sent -> kResting: all have answered -> kLeaving -> kWorking
class Pause {
 public:
  enum class State : std::uint8_t { kWorking, kWanted, kComing, kResting, kLeaving };

  explicit Pause(std::uint32_t ranks) : ranks_(ranks) {}

  /// Requests a pause, unless there already is one.
  void want();
  /// Ends the pause, or withdraws the request if no order was sent. If the ranks have not all come to rest, the pause
  /// ends when they have.
  void end();
  /// Records that the pause is over because the orders were dropped.
  void drop() { state_ = State::kWorking; }

  /// Returns the kind of the order that must be sent now, and records that it was sent with this id. Returns nothing if
  /// no order is due.
  std::optional<OrderKind> next(std::uint64_t id);

  /// Records an answer. Returns false if it is not an answer to the order to pause. Throws kInternal if the ranks rest
  /// after different steps.
  bool answered(const OrderDone& done);

  bool working() const { return state_ == State::kWorking; }
  bool resting() const { return state_ == State::kResting; }
  /// Returns the step after which the ranks rest.
  std::uint64_t step() const { return step_; }

 private:
  std::uint32_t ranks_;
  State state_ = State::kWorking;
  bool ends_at_once_ = false;  ///< True if end() was called before all ranks had come to rest.
  std::uint64_t id_ = 0;       ///< The id of the order that requested the last pause.
  std::uint32_t answers_ = 0;
  std::uint64_t step_ = 0;
};

}  // namespace trainyard::manager
