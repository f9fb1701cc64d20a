// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/component/input.h"
#include "core/component/output.h"
#include "core/loop/event_loop.h"
#include "messages/saved_state.h"

namespace trainyard {

/// The checkpoint writer's side of the exchange of state with other components. It adds the necessary ports to its
/// owner. Each of the other components has a StatePort.
class ComponentStates {
 public:
  /// The time within which all components must have sent or restored their state. A component does this between two
  /// messages, so only a component that hangs takes longer.
  static constexpr std::chrono::seconds kDeadline{30};

  explicit ComponentStates(Component& owner);

  /// Sends the components their state, and calls `done` when all components have restored theirs. `left` names the
  /// owners in `states` whose state no component has taken. If a component does not answer in time, the component that
  /// owns this object fails with kTimeout.
  void give_back(RestoredStates states, std::function<void(const std::set<std::string>& left)> done);

  /// The callback of collect(), which receives the states or, if `error` is not empty, the reason why there are none.
  using Collected = std::function<void(std::vector<SavedState> states, const std::string& error)>;
  /// Asks the components for their state. Calls `done` when all components have sent it, or with an error when one of
  /// them has not sent it in time. If no component has state, `done` is called before this function returns.
  void collect(std::uint64_t order, std::uint64_t step, Collected done);

  /// Cancels the collection in progress, if there is one, and passes `error` to its callback.
  void give_up(const std::string& error);

 private:
  void on_answer(const StateAnswer& answer);
  void on_taken(const StatesTaken& taken);
  void start_clock(std::function<void()> late);
  void stop_clock();

  Component& owner_;
  Output<StateRequest> request_;
  Output<RestoredStates> restored_;
  Input<StateAnswer> answers_;
  Input<StatesTaken> taken_;

  std::optional<core::EventLoop::TimerId> clock_;
  std::set<std::string> answered_;  ///< The components that have answered.
  std::set<std::string> left_;      ///< The owners whose state no component has taken yet.
  std::function<void(const std::set<std::string>& left)> given_back_;
  std::uint64_t order_ = 0;  ///< The order of the collection in progress.
  std::vector<SavedState> states_;
  Collected collected_;  ///< The callback of the collection in progress; empty if there is none.
};

}  // namespace trainyard
