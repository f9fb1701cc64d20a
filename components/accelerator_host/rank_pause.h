// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "components/accelerator_host/turnstile.h"
#include "core/plugin/plugin_context.h"

namespace trainyard::host {

/// The part of one rank in the pauses of the run. During a pause, all ranks rest after the same unit of work.
///
/// Ranks of one host share a Turnstile, and rest after the newest unit that any of them has begun. Ranks on several
/// hosts share no memory. Each of them carries out the orders that it received before the order to pause, and then
/// rests. Because the strategy manager sends the same orders to all ranks, they rest after the same unit in this case,
/// too, only later.
///
///     kWorking -> kWanted: the order has come -> kResting: the last unit before the pause is done -> kWorking
class RankPause {
 public:
  /// For a run with a single rank.
  RankPause() = default;

  /// For one of several ranks. `context` must outlive this object.
  RankPause(const PluginContext& context, std::chrono::milliseconds timeout);

  /// Returns true if the rank may begin its next unit of work, which then counts as begun.
  bool pass() { return turnstile_.pass(); }

  /// Records an order to pause. On one host, this closes the turnstile: afterwards a rank may begin only units that
  /// another rank has already begun. All ranks must have constructed their objects.
  void want(std::uint64_t order);

  /// Makes the rank rest if a pause is wanted and this rank has begun the last unit before it. `idle` is true if the
  /// rank has carried out all orders. Must be called between two units. Returns the id of the order to answer, or
  /// nothing if the rank does not rest.
  std::optional<std::uint64_t> come_to_rest(bool idle);

  /// Ends the pause for this rank. Does nothing if the rank does not rest.
  void go_on();

  bool wanted() const { return state_ == State::kWanted; }
  bool resting() const { return state_ == State::kResting; }

 private:
  enum class State : std::uint8_t { kWorking, kWanted, kResting };

  // Returns true if all ranks share one turnstile.
  bool all_are_near();

  const PluginContext* context_ = nullptr;  ///< Null for a single rank.
  std::chrono::milliseconds timeout_{};
  std::optional<bool> near_;  ///< True if all ranks are on one host; empty until this is needed for the first time.
  Turnstile turnstile_;
  State state_ = State::kWorking;
  std::uint64_t order_ = 0;  ///< The id of the last order to pause.
};

}  // namespace trainyard::host
