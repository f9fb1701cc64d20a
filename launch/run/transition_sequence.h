// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "core/component/component.h"

namespace trainyard::launch {

/// What the launcher knows about a component: the state that it has reported last, or kGone.
using KnownState = std::optional<State>;

/// The state of a component whose process is dead.
inline constexpr KnownState kGone = std::nullopt;

/// Returns the name of the state, or "gone".
std::string_view name_of(const KnownState& state);

/// The known states of all components, indexed by component.
using ComponentStates = std::vector<KnownState>;

/// Changes components to a state, one after another or all at once, and waits for each. Components that cannot reach
/// it, for example because their process is dead or they never started, are skipped, even if this happens while they
/// are awaited. A failed component can only be finalized.
class TransitionSequence {
 public:
  enum class Pace { kOneByOne, kAllAtOnce };

  /// `order` holds component indices. `states` must outlive the sequence. `ask` sends the Transition to one component.
  TransitionSequence(std::vector<std::uint32_t> order, State target, Pace pace, const ComponentStates& states,
                     std::function<void(std::uint32_t)> ask);

  /// Requests the change from the components that are next, including skipped ones that can reach the state now.
  /// Returns true if none is awaited any more. Must be called first, and after every change of `states`.
  bool advance();

  /// Returns the components that have been asked and have not reached the state.
  std::vector<std::uint32_t> awaited() const;

  /// Returns the state to be reached: active, inactive or finalized.
  State target() const { return target_; }

 private:
  bool settled(std::uint32_t component) const;

  std::vector<std::uint32_t> order_;
  State target_;
  Pace pace_;
  const ComponentStates* states_;
  std::function<void(std::uint32_t)> ask_;
  std::vector<bool> asked_;  ///< Says which components have been asked; in the order of `order_`.
};

}  // namespace trainyard::launch
