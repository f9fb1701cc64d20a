// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <zmq.hpp>

#include "launch/hosts/agent_processes.h"
#include "launch/hosts/host_search.h"
#include "launch/hosts/host_settings.h"
#include "launch/hosts/notes_folder.h"
#include "launch/run/guard.h"
#include "launch/run/poll_loop.h"
#include "launch/run/run_console.h"
#include "launch/run/run_context.h"
#include "launch/run/run_directory.h"
#include "launch/run/signal_file.h"

namespace trainyard::launch {

/// What `trainyard launch` is on every host but host 0. The agent joins the launcher on host 0, and owns the processes
/// of its host: it starts them, ends them, and reports what happens to them. It decides nothing itself, except that its
/// processes end when it has lost host 0. The processes speak with the launcher directly.
///
/// Like a supervisor, it must be made and run on the main thread.
class Agent {
 public:
  /// Makes the run directory. `plan`, `settings`, `options` and `guard` must outlive this object.
  Agent(const Plan& plan, const HostSettings& settings, const LaunchOptions& options, const GuardLink& guard);

  /// Takes part in the run until it has ended. Returns an ExitCode, which is that of the launch on host 0 if the agent
  /// has learned it.
  int run();

 private:
  void on_signal(int signal);
  void on_accepted(HostLink& link, std::chrono::milliseconds silence);
  void on_part(const HostPart& part);
  void beat();
  void end(int exit_code, const std::string& reason);

  BlockedSignals blocked_;  ///< It comes before the sockets, which start threads.
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
  std::chrono::milliseconds silence_{};
  std::optional<NotesFolder> notes_;
  std::optional<AgentProcesses> processes_;  ///< Empty until the agent has its part.
  std::optional<PollLoop::Clock::time_point> interrupted_;
  std::optional<int> exit_code_;  ///< Set when the part of this host in the run has ended.
};

}  // namespace trainyard::launch
