// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "messages/order.h"

namespace trainyard::manager {

/// The state of a pause, during which all ranks wait after the same step. After the pause, the interrupted orders are
/// continued, unless the run is stopped.
///
///     kWorking -> kWanted    a pause has been requested
///     kWanted  -> kWorking   the request has been cancelled
///     kWanted  -> kComing    the order to pause is sent
///     kComing  -> kResting   all ranks have answered
///     kComing  -> kLeaving   the same, if the end of the pause has already been requested
///     kResting -> kLeaving   the end of the pause has been requested
///     kLeaving -> kResting   a pause has been requested again
///     kLeaving -> kWorking   the order to continue is sent
class Pause {
 public:
  enum class State : std::uint8_t { kWorking, kWanted, kComing, kResting, kLeaving };

  explicit Pause(std::uint32_t ranks) : ranks_(ranks) {}

  /// Requests a pause. If one is already requested or in progress, it is kept, even if end() has already been called to
  /// end it.
  void want();
  /// Ends the pause, or cancels the request for it. If the order to pause has already been sent, the pause ends as soon
  /// as all ranks have answered.
  void end();
  /// Ends the pause without an order, because the run is stopped.
  void drop() { state_ = State::kWorking; }

  /// Returns the kind of the order that the caller must send now, `kPause` or `kGoOn`, or nothing if no order must be
  /// sent. The order then counts as sent. `id` is the id that the order will have.
  std::optional<OrderKind> next(std::uint64_t id);

  /// Records an answer of a rank. Returns false if it is not an answer to the order to pause. Throws kInternal if the
  /// ranks wait after different numbers of steps, including skipped ones.
  bool answered(const OrderDone& done);

  bool working() const { return state_ == State::kWorking; }
  bool resting() const { return state_ == State::kResting; }

 private:
  std::uint32_t ranks_;
  State state_ = State::kWorking;
  bool ends_at_once_ = false;  ///< True if end() was called before all ranks had answered.
  std::uint64_t id_ = 0;       ///< The id of the most recent order to pause.
  std::uint32_t answers_ = 0;
  std::uint64_t all_steps_ = 0;  ///< OrderDone::all_steps in the first answer.
};

}  // namespace trainyard::manager
