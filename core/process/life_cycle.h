// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <string>

#include "core/component/component.h"
#include "core/loop/event_loop.h"
#include "core/process/component_host.h"

namespace trainyard::core {

/// The phases of a process.
enum class ProcessPhase {
  kWaiting,      ///< The process waits for its plan.
  kConfiguring,  ///< The components allocate memory and open files, each on the thread of its event loop.
  kConfigured,   ///< Every component has been configured; the launcher may request further changes of state.
  kFailed,       ///< The plan could not be carried out. The process still answers requests.
  kEnded,        ///< Every component has been finalized.
};

/// Returns true if a process may change from phase `now` to `next`.
bool may_follow(ProcessPhase now, ProcessPhase next);

/// The part of a process that changes the states of its components when the launcher asks for it, and that tracks the
/// phase of the process. It is used only on the control thread, which communicates with the launcher. Hooks run on the
/// event loops of their components, and the control loop never waits for a hook.
class LifeCycle {
 public:
  /// Callbacks that report changes of state and phase. They are called on the control loop. `error` is empty unless the
  /// state is kError.
  struct Reports {
    std::function<void(const std::string& component, State state, const std::string& error)> state_changed;
    std::function<void()> configured;  ///< Called when all components have been configured; never if one has failed.
    std::function<void()> ended;       ///< Called when all components have been finalized.
  };

  LifeCycle(EventLoop& control, Reports reports) : control_(control), reports_(std::move(reports)) {}

  ProcessPhase phase() const { return phase_; }

  /// Configures all components of the host concurrently. The threads of the host must be running.
  void configure(const ComponentHost& host);

  /// Asks a component to change its state to `target`. The result is reported through `state_changed`. An active
  /// component that becomes inactive is reported only after every message that it has sent over blocking edges has been
  /// handled.
  void bring(Component& component, State target);

  /// Records that a component has failed outside of a requested change of state, for example in a handler. `what` is
  /// the text of the error.
  void failed(const Component& component, const std::string& what) { report(component, State::kError, what); }

  /// Records that the plan could not be carried out.
  void plan_failed() { enter(ProcessPhase::kFailed); }

 private:
  void enter(ProcessPhase next);
  // Runs on the loop of the component, and reports to the control loop.
  void change(Component& component, State target);
  // Checks repeatedly, on the component's loop, whether everything that the component sent has been handled.
  void report_when_drained(Component& component);
  void report_later(const Component& component, State state, const std::string& error);
  void report(const Component& component, State state, const std::string& error);

  EventLoop& control_;
  Reports reports_;
  ProcessPhase phase_ = ProcessPhase::kWaiting;
  /// The components that have not reported the result of their configuration yet.
  std::set<std::string> unconfigured_;
  bool configuration_failed_ = false;
  std::set<std::string> unfinished_;
};

}  // namespace trainyard::core
