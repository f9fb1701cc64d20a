// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/component/input.h"
#include "core/component/output.h"
#include "core/state/state.h"

namespace trainyard {

/// A member of a component that makes the component's state part of every checkpoint. It must be declared after the
/// inputs and outputs of the component:
///
///    class Tally final : public Component {
///     ...
///     private:
///      std::uint64_t total_ = 0;
///      StatePort state_{*this,
///                       [this](StateWriter& into) { into.set("total", total_); },
///                       [this](const StateReader& from) { total_ = from.count("total"); }};
///    };
///
/// The state is saved under the component's name, without the rank. The checkpoint writer requests the state while all
/// ranks wait between two steps. During this time the ranks send no new messages to the component, but earlier messages
/// may still be in flight. The state is restored before the strategy manager sends its first Order.
class StatePort {
 public:
  using Save = std::function<void(StateWriter& into)>;
  using Restore = std::function<void(const StateReader& from)>;
  /// A function that restores the component from those states in `restored` that belong to it, and returns the owners
  /// of these states (SavedState::owner).
  using Take = std::function<std::vector<std::string>(const RestoredStates& restored)>;

  /// `save` is called for every checkpoint. `restore` is called once when a run resumes. It is not called if the
  /// checkpoint contains no state that this component has saved for the whole run or for its rank.
  StatePort(Component& owner, Save save, Restore restore);

  /// Makes a port that restores state but saves none, for a component whose state is saved in another way: in a
  /// Snapshot or an Order. `take` receives all states of the checkpoint.
  StatePort(Component& owner, Take take);

 private:
  void answer(const StateRequest& request);
  void take(const RestoredStates& restored);

  Component& owner_;
  Save save_;
  Take take_;
  Input<RestoredStates> restored_;
  Output<StatesTaken> taken_;
  // A component that only restores state has no ports for saving it.
  std::optional<Input<StateRequest>> asked_;
  std::optional<Output<StateAnswer>> answers_;
};

}  // namespace trainyard
