#include "launch/run/transition_sequence.h"

#include <algorithm>
#include <utility>

namespace trainyard::launch {

// Keeps no state of its own about components but whom it has asked: everything else is looked up again at every event,
// so it does not matter in which order reports and deaths come in.
TransitionSequence::TransitionSequence(std::vector<std::uint32_t> order, std::string target, Pace pace,
                                       const ComponentStates& states, std::function<void(std::uint32_t)> ask)
    : order_(std::move(order)),
      target_(std::move(target)),
      pace_(pace),
      states_(&states),
      ask_(std::move(ask)),
      asked_(order_.size()) {}

// Nothing more is to be expected of it on the way to the target, whether it got there or not.
bool TransitionSequence::settled(std::uint32_t component) const {
  const std::string& state = (*states_)[component];
  if (state == target_ || state == "gone" || state == "finalized") return true;
  if (target_ == "finalized") return state == "unconfigured";  // One that failed must still be told: its process waits.
  return state == "error" || (target_ == "inactive" && state != "active");
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
