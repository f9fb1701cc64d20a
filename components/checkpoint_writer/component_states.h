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

/// The messages between the checkpoint writer and the components that have state. This class contains the ports for
/// these messages, which are the counterparts of the ports of a StatePort.
class ComponentStates {
 public:
  /// The maximum time that components may need to send or restore their state. They do so between two messages, so only
  /// a component that hangs takes longer.
  static constexpr std::chrono::seconds kDeadline{30};

  explicit ComponentStates(Component& owner);

  /// Sends the states to the components, and calls `done` when all components have answered. `left` contains the owners
  /// whose state no component has taken. The owner of this object fails if a component does not answer in time.
  void give_back(RestoredStates states, std::function<void(const std::set<std::string>& left)> done);

  /// A function that receives the states of all components, or an error; `error` is empty if there is none.
  using Collected = std::function<void(std::vector<SavedState> states, const std::string& error)>;
  /// Requests the state of the components. Calls `done` when all have answered, or with an error if one does not answer
  /// in time. `done` may be called before collect() returns.
  void collect(std::uint64_t order, std::uint64_t step, Collected done);

  /// Cancels the collection under way, and passes `error` to its callback.
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
  std::uint64_t order_ = 0;  ///< The order of the collection under way.
  std::vector<SavedState> states_;
  Collected collected_;  ///< Empty if no collection is under way.
};

}  // namespace trainyard
