// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "components/accelerator_host/turnstile.h"
#include "core/plugin/plugin_context.h"

namespace trainyard::host {

/// Lets a rank take part in the pauses of the run. In each pause, all ranks rest after the same unit of work, such as a
/// training step.
///
/// Ranks on one host share a Turnstile, through which they agree to rest after the newest unit that any of them has
/// begun. Ranks on different hosts share no memory. In a run on several hosts, each rank therefore carries out all
/// orders that it received before the order to pause, and then rests. Because the strategy manager (the component that
/// directs the run) sends the same orders to all ranks, they rest after the same unit in this case, too, but later.
///
///     kWorking -> kWanted    the order to pause has arrived
///     kWanted  -> kResting   the last unit before the pause is done
///     kResting -> kWorking   the order to end the pause has arrived
class RankPause {
 public:
  /// Constructs the object for a run with a single rank.
  RankPause() = default;

  /// Constructs the object for one of several ranks. `timeout` is how long to wait for rank 0; see the constructor of
  /// Turnstile, whose errors are passed on. `context` must outlive this object.
  RankPause(const PluginContext& context, std::chrono::milliseconds timeout);

  /// Returns true if the rank may begin its next unit of work, which then counts as begun.
  bool pass() { return turnstile_.pass(); }

  /// Called when the order to pause, with the id `order`, has arrived. If all ranks are on one host, the ranks may
  /// afterwards begin only units that some rank has already begun. All ranks must have constructed their RankPause
  /// before this call.
  void want(std::uint64_t order);

  /// Call this function between two units. If a pause is wanted and this rank has done the last unit before it, the
  /// rank rests from now on, and the function returns the id of the order to pause, which must be answered. Otherwise
  /// returns nothing. `idle` is true if the rank has carried out all orders.
  std::optional<std::uint64_t> come_to_rest(bool idle);

  /// Called when the order to end the pause has arrived. Does nothing if the rank does not rest.
  void go_on();

  bool wanted() const { return state_ == State::kWanted; }
  bool resting() const { return state_ == State::kResting; }

 private:
  enum class State : std::uint8_t { kWorking, kWanted, kResting };

  // Returns true if all ranks share one turnstile.
  bool all_are_near();

  const PluginContext* context_ = nullptr;  ///< Null for a single rank.
  std::chrono::milliseconds timeout_{};
  std::optional<bool> near_;  ///< True if all ranks are on one host; empty until all_are_near() has been called.
  Turnstile turnstile_;
  State state_ = State::kWorking;
  std::uint64_t order_ = 0;  ///< The id of the most recent order to pause.
};

}  // namespace trainyard::host
