#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace trainyard::launch {

/// The state of each component as the launcher knows it: "unconfigured", "inactive", "active", "finalized", "error", or
/// "gone" while its process is dead.
using ComponentStates = std::vector<std::string>;

/// Changes components to a state, one after another or all at once, and waits for each. Components that cannot reach it
/// (they failed, their process is dead, or they never started) are skipped, even if this happens while they are
/// awaited.
class TransitionSequence {
 public:
  enum class Pace { kOneByOne, kAllAtOnce };

  /// `order` holds component indices. `states` must outlive the sequence. `ask` sends the Transition to one component.
  TransitionSequence(std::vector<std::uint32_t> order, std::string target, Pace pace, const ComponentStates& states,
                     std::function<void(std::uint32_t)> ask);

  /// Requests the change from the components that are next, including skipped ones that can reach the state now.
  /// Returns true if none is awaited any more. Must be called first, and after every change of `states`.
  bool advance();

  /// Returns the components that have been asked and have not reached the state.
  std::vector<std::uint32_t> awaited() const;

  /// Returns the state that is to be reached: "active", "inactive" or "finalized".
  const std::string& target() const { return target_; }

 private:
  bool settled(std::uint32_t component) const;

  std::vector<std::uint32_t> order_;
  std::string target_;
  Pace pace_;
  const ComponentStates* states_;
  std::function<void(std::uint32_t)> ask_;
  std::vector<bool> asked_;  ///< Indexed by place in `order_`.
};

}  // namespace trainyard::launch
