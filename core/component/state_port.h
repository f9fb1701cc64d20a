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

/// Makes the state of a component part of every checkpoint. It is a member of the component, declared after its inputs
/// and outputs:
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
/// The state is saved under the component's name. It is requested while all ranks wait between two steps. No new
/// messages are sent to the component meanwhile, but messages that were sent before may still be under way. The state
/// is restored before the first order.
class StatePort {
 public:
  using Save = std::function<void(StateWriter& into)>;
  using Restore = std::function<void(const StateReader& from)>;
  /// A function that takes state from `restored` and returns the owners whose state it has taken.
  using Take = std::function<std::vector<std::string>(const RestoredStates& restored)>;

  /// `restore` is called only if the checkpoint has state of this component.
  StatePort(Component& owner, Save save, Restore restore);

  /// For a component whose state reaches the checkpoint in another way, with a Snapshot or an Order. `take` gets all
  /// states of the checkpoint.
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
