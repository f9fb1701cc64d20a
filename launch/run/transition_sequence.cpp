// SPDX-License-Identifier: Apache-2.0
#include "launch/run/transition_sequence.h"

#include <algorithm>
#include <utility>

namespace trainyard::launch {

std::string_view state_name(const KnownState& state) { return state ? name_of(*state) : "gone"; }

// The sequence remembers only which components it has asked. It looks up their states again in every call of advance(),
// so the order in which reports and ends of processes arrive does not matter.
TransitionSequence::TransitionSequence(std::vector<std::uint32_t> order, State target, Pace pace,
                                       const ComponentStates& states, std::function<void(std::uint32_t)> ask)
    : order_(std::move(order)),
      target_(target),
      pace_(pace),
      states_(&states),
      ask_(std::move(ask)),
      asked_(order_.size()) {}

// Returns true if nothing more can be expected from the component, whether it has reached the target or not.
bool TransitionSequence::settled(std::uint32_t component) const {
  const KnownState& state = (*states_)[component];
  if (state == target_ || state == kGone || state == State::kFinalized) return true;
  // A failed component must be finalized, too, because its process waits for this.
  if (target_ == State::kFinalized) return state == State::kUnconfigured;
  return state == State::kError || (target_ == State::kInactive && state != State::kActive);
}

// With kOneByOne, stops at the first component that is not settled, whether it is asked now or was asked before.
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
