#include "launch/run/transition_sequence.h"

#include <algorithm>
#include <utility>

namespace trainyard {

TransitionSequence::TransitionSequence(std::vector<std::uint32_t> order, std::string target, Pace pace,
                                       const ComponentStates& states, std::function<void(std::uint32_t)> ask)
    : order_(std::move(order)), target_(std::move(target)), pace_(pace), states_(&states), ask_(std::move(ask)) {}

bool TransitionSequence::settled(std::uint32_t component) const {
  const std::string& state = (*states_)[component];
  if (state == target_ || state == "gone" || state == "finalized") return true;
  if (target_ == "finalized") return state == "unconfigured";  // One that failed must still be told: its process waits.
  return state == "error" || (target_ == "inactive" && state != "active");
}

bool TransitionSequence::advance() {
  for (; asked_ < order_.size(); ++asked_) {
    if (pace_ == Pace::kOneByOne && !awaited().empty()) return false;
    if (!settled(order_[asked_])) ask_(order_[asked_]);
  }
  return awaited().empty();
}

std::vector<std::uint32_t> TransitionSequence::awaited() const {
  std::vector<std::uint32_t> waiting;
  for (std::size_t i = 0; i < asked_; ++i) {
    if (!settled(order_[i])) waiting.push_back(order_[i]);
  }
  return waiting;
}

}  // namespace trainyard
