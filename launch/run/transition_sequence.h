// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "core/component/component.h"

namespace trainyard::launch {

/// The launcher's information about a component: the state that the component has reported last, or kGone.
using KnownState = std::optional<State>;

/// The value for a component whose process has died.
inline constexpr KnownState kGone = std::nullopt;

/// Returns the name of the state, or "gone" for kGone.
std::string_view state_name(const KnownState& state);

/// The known states of all components, by the component's index.
using ComponentStates = std::vector<KnownState>;

/// A change of several components to the same state, either one after another or all simultaneously. Components that
/// cannot reach the state are skipped, for example because their process has died or because they were never
/// configured. A component that is already awaited is skipped, too, if it can no longer reach the state. A failed
/// component can only be finalized.
class TransitionSequence {
 public:
  enum class Pace { kOneByOne, kAllAtOnce };

  /// `order` contains the indices of the components. `states` must outlive the sequence. `ask` is called to send the
  /// message Transition to a component.
  TransitionSequence(std::vector<std::uint32_t> order, State target, Pace pace, const ComponentStates& states,
                     std::function<void(std::uint32_t)> ask);

  /// Asks the next components to change to the target state. This includes components that were skipped but can reach
  /// the state now. Returns true if no component is awaited. Must be called to begin the sequence, and after every
  /// change of `states`.
  bool advance();

  /// Returns the indices of the components that have been asked and are still awaited.
  std::vector<std::uint32_t> awaited() const;

  /// Returns the target state: active, inactive or finalized.
  State target() const { return target_; }

 private:
  bool settled(std::uint32_t component) const;

  std::vector<std::uint32_t> order_;
  State target_;
  Pace pace_;
  const ComponentStates* states_;
  std::function<void(std::uint32_t)> ask_;
  std::vector<bool> asked_;  ///< True for each element of `order_` that has been asked.
};

}  // namespace trainyard::launch
