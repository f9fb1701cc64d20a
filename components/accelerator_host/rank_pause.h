// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "components/accelerator_host/turnstile.h"
#include "core/plugin/plugin_context.h"

namespace trainyard::host {

/// The state of this rank in the pauses of all ranks.
///
///     kWorking -> kWanted: the order has come -> kResting: the last unit before the pause is done -> kWorking
class RankPause {
 public:
  /// For a run with a single rank.
  RankPause() = default;

  /// For one of several ranks, which share a Turnstile.
  RankPause(const PluginContext& context, std::chrono::milliseconds timeout) : turnstile_(context, timeout) {}

  /// Returns true if the rank may begin its next unit of work, which then counts as begun.
  bool pass() { return turnstile_.pass(); }

  /// Records the order to pause, which has this id. Afterwards no rank begins a unit that no other rank has begun.
  void want(std::uint64_t order);

  /// Comes to rest if a pause is wanted and this rank has begun the last unit before it. Call this between two units.
  /// Returns the id of the order to answer; empty if the rank has not come to rest.
  std::optional<std::uint64_t> come_to_rest();

  /// Ends the pause for this rank. Does nothing if the rank does not rest.
  void go_on();

  bool wanted() const { return state_ == State::kWanted; }
  bool resting() const { return state_ == State::kResting; }

 private:
  enum class State : std::uint8_t { kWorking, kWanted, kResting };

  Turnstile turnstile_;
  State state_ = State::kWorking;
  std::uint64_t order_ = 0;  ///< The id of the order that requested the newest pause.
};

}  // namespace trainyard::host
