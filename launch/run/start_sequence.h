// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>

#include "launch/run/run_context.h"
#include "messages/control.h"

namespace trainyard::launch {

/// The start of a run, and of a process that is restarted later. Hello and the other capitalised names are messages
/// (messages/control.h, messages/plan.h):
///
///    every process:  Hello -> ProcessPlan -> Configured
///    all configured: Connect -> Connected
///    all connected:  external programs start; components become active one by one, receivers before senders
///
/// A process that is restarted later passes through the same stages alone. Connect is then sent to all processes again,
/// because the endpoints of the restarted process are new.
class StartSequence {
 public:
  /// `failed` is called with the reason if the run, or a process that is restarted, cannot start.
  StartSequence(RunContext& run, std::function<void(const std::string&)> failed);
  ~StartSequence();
  StartSequence(const StartSequence&) = delete;
  StartSequence& operator=(const StartSequence&) = delete;

  /// Starts the processes with components. The plan's start_timeout is measured from this call.
  void begin();

  /// Cancels the start, because the run is to be ended. No message is awaited after that.
  void cancel();

  /// Handles the message Hello of a process, and sends the process its plan.
  void on_hello(const std::string& process, const Hello& hello);

  /// Handles the message Configured of a process. When all processes have sent it, Connect is sent to all of them.
  void on_configured(const std::string& process, const Configured& configured);

  /// Handles the message Connected of a process. When all processes have sent it, components become active.
  void on_connected(const std::string& process);

  /// Must be called after every change of the components' states.
  void on_state_changed();
  /// Must be called when a process has been reaped. Its stage becomes the first stage again, and nothing is awaited
  /// from it.
  void on_gone(const std::string& process);

 private:
  void connect_all();
  void send_endpoints();
  // Performs the last step of the start: starts the external programs, then activates the components.
  void activate_all();
  void start_programs();
  // Connects a restarted process that has bound its sockets again.
  void rejoin(const std::string& process);
  TransitionSequence activation(std::vector<std::uint32_t> components);
  // Reports what is missing when the deadline of the start has passed.
  void too_late();

  RunContext& run_;
  std::function<void(const std::string&)> failed_;
  /// The activations in progress. The key is the name of a restarted process, or "" for the activation of all
  /// components at the start.
  std::map<std::string, TransitionSequence> activations_;
  PollLoop::Id deadline_ = 0;
};

}  // namespace trainyard::launch
