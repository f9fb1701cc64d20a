// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <zmq.hpp>

#include "launch/hosts/agent_processes.h"
#include "launch/hosts/host_search.h"
#include "launch/hosts/host_settings.h"
#include "launch/hosts/notes_folder.h"
#include "launch/hosts/tunnels.h"
#include "launch/run/guard.h"
#include "launch/run/poll_loop.h"
#include "launch/run/run_console.h"
#include "launch/run/run_context.h"
#include "launch/run/run_directory.h"
#include "launch/run/signal_file.h"

namespace trainyard::launch {

/// The main object of `trainyard launch` on every host except host 0. The agent joins the launcher on host 0, and owns
/// the processes of its host: it starts them, ends them, and reports what happens to them. Host 0 makes all decisions,
/// but the agent ends its processes on its own if it loses host 0 or its guard (the process that cleans up if the agent
/// is killed), or if the user interrupts it a second time. The processes themselves communicate with the launcher
/// directly.
///
/// Like the class Supervisor, it must be constructed and run on the main thread.
class Agent {
 public:
  /// Makes the run directory. `plan`, `settings`, `options` and `guard` must outlive this object.
  Agent(const Plan& plan, const HostSettings& settings, const LaunchOptions& options, const GuardLink& guard);

  /// Runs until the run has ended. Returns an ExitCode: that of the launch on host 0 if the agent has received it;
  /// otherwise kInterrupted if a signal has ended the agent, or else kFailed.
  int run();

 private:
  void on_signal(int signal);
  void on_accepted(HostLink& link, std::chrono::milliseconds silence);
  void on_part(const HostPart& part);
  void reap();
  // Sends a sign of life to host 0, now and from then on. Ends the processes of this host if host 0 has closed the
  // connection, or if nothing was heard for `most_silence`.
  void beat(std::chrono::milliseconds most_silence);
  void end(int exit_code, const std::string& reason);

  /// Declared before the sockets, because they start threads, in which the signals must be blocked, too.
  BlockedSignals blocked_;
  const LaunchOptions& options_;
  const GuardLink& guard_;
  PollLoop loop_;
  RunConsole console_;
  RunDirectory directory_;
  HostSettings settings_;
  SignalFile signals_;
  zmq::context_t sockets_;
  std::optional<HostSearch> search_;
  HostLink* link_ = nullptr;  ///< The connection to host 0; null until host 0 has accepted this agent.
  std::optional<NotesFolder> notes_;
  std::optional<Tunnels> tunnels_;
  /// The processes of this host; empty until the agent has received its part of the run.
  std::optional<AgentProcesses> processes_;
  std::optional<PollLoop::Clock::time_point> interrupted_;
  std::optional<int> exit_code_;  ///< The exit code; empty until the run has ended on this host.
};

}  // namespace trainyard::launch
