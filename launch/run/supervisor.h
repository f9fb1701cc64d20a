// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "launch/hosts/remote_hosts.h"
#include "launch/run/heartbeat_watch.h"
#include "launch/run/launch_journal.h"
#include "launch/run/progress_watch.h"
#include "launch/run/registry_server.h"
#include "launch/run/run_context.h"
#include "launch/run/run_outcome.h"
#include "launch/run/signal_file.h"
#include "launch/run/start_sequence.h"
#include "launch/run/stop_sequence.h"

namespace trainyard::launch {

// clang-format off
/// The part of the launcher that runs a plan. It starts and connects the processes, watches over them, answers
/// questions about them, and ends them. It uses one thread with one poll loop, and therefore no locks.
/// It reacts to these events:
///
///     on a signal           the first signal asks components to stop; the second ends all processes, unless it is
///                           SIGHUP, SIGUSR1 or SIGUSR2, or arrives together with the first. While the run ends
///                           after a failure, the first signal already counts as the second
///     on RunFinished        (a component's message) ends the run normally; only the first RunFinished counts
///     on an error           reports it, and the last lines of its process; lets components save, then ends the run
///     on a process's end    restarts the process if its policy allows it; otherwise continues without it, or fails
///     on no progress        reports what the run waits for, and fails
///     on a lost host        reports it, and fails
///
/// A supervisor must be constructed and run on the main thread, because child processes are killed when the thread that
/// started them ends. The constructor blocks SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 and SIGCHLD, and ignores SIGPIPE
/// and SIGTTOU.
// clang-format on
class Supervisor {
 public:
  /// Makes the run directory and binds the launcher's sockets, but starts no process. `plan`, `options` and `guard`
  /// must outlive this object.
  Supervisor(const Plan& plan, const LaunchOptions& options, const GuardLink& guard);
  /// Removes the run directory.
  ~Supervisor();

  /// Runs the plan until every process has been reaped. Returns an ExitCode.
  int run();

 private:
  void listen();
  void on_signal(int signal);
  // Handles an interrupt. The first interrupt asks the components to stop; the second one ends the processes.
  void on_interrupt(int signal);
  // Handles the end of a process that has been reaped: restarts it, continues without it, or fails.
  void on_end(ChildProcess& child, int wait_status);
  void ended_for_good(ChildProcess& child, int wait_status);
  // Handles the end of a process while the run stops. Reports a failure if the process ended otherwise than requested.
  void ended_while_stopping(ChildProcess& child, int wait_status, bool failed_before);
  void mark_gone(const ChildProcess& child);
  void on_state_changed(const std::string& process, const StateChanged& change);
  void on_finished(const RunFinished& finished);
  void check_programs_done();
  // Handles the loss of a host, with all its processes.
  void on_host_lost(std::uint32_t host, const std::string& reason);

  /// Reports a failure of the run and begins to end it. `process` is the process that caused the failure, whose last
  /// lines are printed; null if there is none.
  void fail(const std::string& reason, ChildProcess* process = nullptr);

  /// Declared before `run_`, whose sockets start threads, in which the signals must be blocked, too.
  BlockedSignals blocked_;
  RunContext run_;
  const GuardLink& guard_;
  SignalFile signals_;
  HeartbeatWatch heartbeats_;
  ProgressWatch watch_;
  StartSequence start_;
  StopSequence stop_;
  RunOutcome outcome_;
  RegistryServer registry_;
  LaunchJournal journal_;
  std::unique_ptr<RemoteHosts> hosts_;       ///< Null if the run has only this host.
  PollLoop::Clock::time_point interrupted_;  ///< When the user first asked the run to stop.
};

}  // namespace trainyard::launch
