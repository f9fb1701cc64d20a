// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
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

/// Collects the state of other components for a checkpoint, and gives it back to them when a run resumes. It adds the
/// necessary inputs and outputs to the checkpoint writer; every component with state has a StatePort, which answers.
/// It does not wait for components whose processes have died, so a checkpoint then lacks their state. If a process dies
/// while an answer is awaited from it, the deadline applies.
class ComponentStates {
 public:
  /// The time within which all components must have sent or restored their state. A component does so between two
  /// messages, so only a component that hangs takes longer.
  static constexpr std::chrono::seconds kDeadline{30};

  explicit ComponentStates(Component& owner);

  /// Sends the components their state from a checkpoint, and calls `done` when all components have answered. `left`
  /// contains the names (SavedState::owner) of states that no component has restored. If a component does not answer in
  /// time, the checkpoint writer fails with kTimeout. If no component has state, `done` is called before this function
  /// returns.
  void give_back(RestoredStates states, std::function<void(const std::set<std::string>& left)> done);

  /// The callback of collect(). It gets the states or, if `error` is not empty, the reason why they could not be
  /// collected.
  using Collected = std::function<void(std::vector<SavedState> states, const std::string& error)>;
  /// Asks the components for their state, for the checkpoint of step `step` that the order with the id `order`
  /// requested. Calls `done` when all components have answered, or with an error if one of them has not answered in
  /// time. If no component has state, `done` is called before this function returns.
  void collect(std::uint64_t order, std::uint64_t step, Collected done);

  /// Cancels collect(), if it is in progress, and passes `error` to its callback.
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
  std::size_t awaited_ = 0;         ///< The number of components that must answer.
  std::set<std::string> answered_;  ///< The components that have answered.
  std::set<std::string> left_;      ///< The names of the states that no component has restored yet.
  std::function<void(const std::set<std::string>& left)> given_back_;
  std::uint64_t order_ = 0;  ///< The id of the order for which states are being collected.
  std::vector<SavedState> states_;
  Collected collected_;  ///< The callback of the collection in progress; empty if there is none.
};

}  // namespace trainyard
