#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace trainyard::launch {

/// What the launcher knows of a component: "unconfigured", "inactive", "active", "finalized", "error", or "gone" while
/// its process is dead.
using ComponentStates = std::vector<std::string>;

/// Brings components to a state, one after another or all at once, and waits for each. Components that cannot go there
/// (they failed, their process is dead, they never started) are passed over, also if that happens while they are waited
/// for: nobody waits for the dead.
class TransitionSequence {
 public:
  enum class Pace { kOneByOne, kAllAtOnce };

  /// `order`: component indices. `states` must outlive the sequence. `ask` sends the Transition to one component.
  TransitionSequence(std::vector<std::uint32_t> order, std::string target, Pace pace, const ComponentStates& states,
                     std::function<void(std::uint32_t)> ask);

  /// Asks whom it is time to ask: also one that was passed over and can go there now. True if nobody is waited for any
  /// more. To be called first, and after every change of `states`.
  bool advance();

  /// Who has been asked and has not arrived.
  std::vector<std::uint32_t> awaited() const;

  /// "active", "inactive" or "finalized".
  const std::string& target() const { return target_; }

 private:
  bool settled(std::uint32_t component) const;

  std::vector<std::uint32_t> order_;
  std::string target_;
  Pace pace_;
  const ComponentStates* states_;
  std::function<void(std::uint32_t)> ask_;
  std::vector<bool> asked_;  ///< By place in `order_`.
};

}  // namespace trainyard::launch
