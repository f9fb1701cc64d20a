// SPDX-License-Identifier: Apache-2.0
#include "launch/run/transition_sequence.h"

#include <algorithm>
#include <utility>

namespace trainyard::launch {

std::string_view name_of(const KnownState& state) { return state ? trainyard::name_of(*state) : "gone"; }

// Keeps no state of its own about components but whom it has asked: everything else is looked up again at every event,
// so it does not matter in which order reports and deaths come in.
TransitionSequence::TransitionSequence(std::vector<std::uint32_t> order, State target, Pace pace,
                                       const ComponentStates& states, std::function<void(std::uint32_t)> ask)
    : order_(std::move(order)),
      target_(target),
      pace_(pace),
      states_(&states),
      ask_(std::move(ask)),
      asked_(order_.size()) {}

// Nothing more is to be expected of it on the way to the target, whether it got there or not.
bool TransitionSequence::settled(std::uint32_t component) const {
  const KnownState& state = (*states_)[component];
  if (state == target_ || state == kGone || state == State::kFinalized) return true;
  // One that failed must still be told: its process waits.
  if (target_ == State::kFinalized) return state == State::kUnconfigured;
  return state == State::kError || (target_ == State::kInactive && state != State::kActive);
}

// At kOneByOne the first that is not settled ends the round, whether it was asked now or before.
bool TransitionSequence::advance() {
  for (std::size_t i = 0; i < order_.size(); ++i) {
    if (settled(order_[i])) continue;
    if (!asked_[i]) ask_(order_[i]);
    asked_[i] = true;
    if (pace_ == Pace::kOneByOne) break;
  }
  return awaited().empty();
}

std::vector<std::uint32_t> TransitionSequence::awaited() const {
  std::vector<std::uint32_t> waiting;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    if (asked_[i] && !settled(order_[i])) waiting.push_back(order_[i]);
  }
  return waiting;
}

}  // namespace trainyard::launch
