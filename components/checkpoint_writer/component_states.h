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

/// What the checkpoint writer and the components that have state say to each other. It brings the ports for this with
/// it, the counterparts of those of a StatePort.
class ComponentStates {
 public:
  /// How long components may take to give their state or to take it back. They do it between two messages, so only one
  /// that hangs takes longer.
  static constexpr std::chrono::seconds kDeadline{30};

  explicit ComponentStates(Component& owner);

  /// Gives the components their state, and calls `done` when all have taken it, with the owners whose state nobody has
  /// taken. The owner of this object fails if a component does not answer in time.
  void give_back(RestoredStates states, std::function<void(const std::set<std::string>& left)> done);

  /// Asks the components for their state, and calls `done` when all have given it or one has not in time. It may call
  /// it before it returns.
  using Collected = std::function<void(std::vector<SavedState> states, const std::string& error)>;
  void collect(std::uint64_t order, std::uint64_t step, Collected done);

  /// Ends a collection that is under way, with this error.
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
  std::set<std::string> left_;      ///< The owners whose state nobody has taken yet.
  std::function<void(const std::set<std::string>& left)> given_back_;
  std::uint64_t order_ = 0;  ///< The order of the collection under way.
  std::vector<SavedState> states_;
  Collected collected_;  ///< Empty if no collection is under way.
};

}  // namespace trainyard
