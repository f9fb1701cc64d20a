// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>

#include "launch/run/run_context.h"
#include "messages/control.h"

namespace trainyard::launch {

/// Starts a run, and integrates a restarted process into it:
///
///    every process:  Hello -> ProcessPlan -> Configured
///    all configured: Connect -> Connected
///    all connected:  external programs start; components become active one by one, receivers before senders
///
/// A process that is restarted later passes the same stages alone; the others are sent Connect again because of its new
/// endpoints.
class StartSequence {
 public:
  /// `failed` is called with the reason if the run cannot start or a restarted process cannot rejoin it.
  StartSequence(RunContext& run, std::function<void(const std::string&)> failed);
  ~StartSequence();
  StartSequence(const StartSequence&) = delete;
  StartSequence& operator=(const StartSequence&) = delete;

  /// Starts the processes. The plan's start_timeout begins now.
  void begin();

  /// Cancels the start because the run will end. No process is awaited any more.
  void cancel();

  /// Called by the supervisor for the messages of the processes that run components.
  void on_hello(const std::string& process, const Hello& hello);
  void on_configured(const std::string& process, const Configured& configured);
  void on_connected(const std::string& process);
  void on_state_changed();
  /// Resets the stage of a process that has been reaped.
  void on_gone(const std::string& process);

 private:
  void connect_all();
  // The last step of the start: starts the external programs, then activates the components.
  void activate_all();
  void start_programs();
  // Called when a restarted process has bound its sockets again.
  void rejoin(const std::string& process);
  TransitionSequence activation(std::vector<std::uint32_t> components);
  // Called when the deadline of the start has passed.
  void too_late();

  RunContext& run_;
  std::function<void(const std::string&)> failed_;
  /// The activations under way, indexed by restarted process; "" stands for that of all components at the start.
  std::map<std::string, TransitionSequence> activations_;
  PollLoop::Id deadline_ = 0;
};

}  // namespace trainyard::launch
