// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "launch/run/heartbeat_watch.h"
#include "launch/run/progress_watch.h"
#include "launch/run/registry_server.h"
#include "launch/run/run_context.h"
#include "launch/run/run_outcome.h"
#include "launch/run/signal_file.h"
#include "launch/run/start_sequence.h"
#include "launch/run/stop_sequence.h"

namespace trainyard::launch {

// clang-format off
/// Runs a plan from the first process to the last: starts and connects them, watches over them, answers questions about
/// them, and ends them. One thread, one poll loop, no locks.
///
///     on a signal           the first asks components to stop; the second ends all processes at once, unless it is
///                           SIGHUP or comes together with the first
///     on RunFinished        ends the run in order; only the first one has an effect
///     on an error           reports it with the process's last lines, and ends the run quickly
///     on a process's end    restarts it, if its policy says so; otherwise continues without it, or fails
///     on a standstill       names who holds the run up, and fails
///
/// It must be made and run on the main thread, because children die with the thread that made them. From then on SIGINT,
/// SIGTERM, SIGHUP and SIGCHLD are blocked, and SIGPIPE and SIGTTOU ignored.
// clang-format on
class Supervisor {
 public:
  /// Makes the run directory and binds its sockets, but starts nothing yet. `plan`, `options` and `guard` must outlive
  /// this object.
  Supervisor(const Plan& plan, const LaunchOptions& options, const GuardLink& guard);
  /// Removes the run directory.
  ~Supervisor();

  /// Runs until every process has been reaped. Returns an ExitCode.
  int run();

 private:
  void listen();
  void on_signal(int signal);
  // The first interrupt asks the components, the second one ends the processes.
  void on_interrupt(int signal);
  // Called when a process has been reaped: restarts it, continues without it, or fails.
  void on_end(ChildProcess& child, int wait_status);
  void ended_for_good(ChildProcess& child, int wait_status);
  // A process was reaped while the run stops: reports what went wrong, if anything did.
  void ended_while_stopping(ChildProcess& child, int wait_status, bool failed_before);
  void mark_gone(const ChildProcess& child);
  void on_state_changed(const std::string& process, const StateChanged& change);
  void on_finished(const RunFinished& finished);
  void check_programs_done();

  /// Reports why the run fails, with the last lines of `process` if it is to blame, and ends the run.
  void fail(const std::string& reason, ChildProcess* process = nullptr);

  RunContext run_;
  const GuardLink& guard_;
  SignalFile signals_;
  HeartbeatWatch heartbeats_;
  ProgressWatch watch_;
  StartSequence start_;
  StopSequence stop_;
  RegistryServer registry_;
  RunOutcome outcome_;
  PollLoop::Clock::time_point interrupted_;  ///< When the user first asked the run to stop.
};

}  // namespace trainyard::launch
