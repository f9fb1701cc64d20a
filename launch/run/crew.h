// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "launch/plan/plan.h"
#include "launch/run/child_process.h"
#include "launch/run/poll_loop.h"
#include "launch/run/run_console.h"

namespace trainyard::launch {

/// The settings with which a crew starts the processes of a run.
struct CrewOptions {
  std::string process_program;   ///< The path of `trainyard-process`, or of a substitute in tests.
  std::string control_endpoint;  ///< The address of the launcher's ControlChannel.
  std::string run;               ///< The full name of the run, such as "mnist-9ix".
  std::string run_directory;
  std::string keys;  ///< The keys of the run as text, which only processes with components receive.
  bool flush_denormals = true;
  /// A program, such as a profiler, and its arguments, under which `wrapped_process` is started; empty if no process is
  /// wrapped.
  std::vector<std::string> wrapper;
  std::string wrapped_process;  ///< The name of the process that `wrapper` wraps.
  /// Signals that the engine (the program that has started the launcher on this host, such as Slurm) sends not only to
  /// the launcher but also to every process of the run. The processes are started so that they ignore these signals
  /// (external programs do not ignore SIGTERM), because only the launcher decides when they end.
  std::vector<int> engine_signals;
};

/// Returns the settings with which a process is started: the environment that docs/command_line.md promises to every
/// process, and, if it has components, the arguments and the encryption keys that every process with components needs.
/// CrewOptions::wrapper is not included; the class Crew adds it.
SpawnOptions spawn_options(const PlannedProcess& planned, const CrewOptions& options);

/// The processes of a run. The crew starts them, prints their output, and detects when they end. The class Supervisor
/// decides what happens after a process has ended.
class Crew {
 public:
  /// The callbacks for changes of a process. Each receives the wait status.
  struct Reports {
    /// The process has ended and has been reaped.
    std::function<void(ChildProcess& child, int wait_status)> ended;
    /// A signal has stopped or continued the process.
    std::function<void(ChildProcess& child, int wait_status)> changed;
  };

  /// `plan` must outlive the crew.
  Crew(PollLoop& loop, RunConsole& console, const Plan& plan, CrewOptions options, Reports reports);
  ~Crew();

  /// Returns all processes of the plan, in the order of the plan, whether they are running or not.
  const std::vector<std::unique_ptr<ChildProcess>>& children() const { return children_; }

  /// Returns the process with this name, or null if there is none.
  ChildProcess* find(const std::string& name) const;

  /// Starts the process, or asks the agent of its host to start it. Throws kNotFound or kIo if a program cannot be
  /// started on this host. A failure on another host is reported later, like the end of the process (Reports::ended).
  void start(ChildProcess& child);

  /// Starts the process again after the delay in its respawn policy. Calls `failed` with the reason if the program
  /// cannot be started.
  void start_later(ChildProcess& child, std::function<void(const std::string&)> failed);

  /// Reaps all child processes that have ended. Calls Reports::ended for each of them, and Reports::changed for those
  /// that were stopped or continued. Must be called on SIGCHLD.
  void reap();

  /// Handles the wait status of a process. reap() calls this for processes of this host; for a process of another host,
  /// it is called when the agent of that host (the process that acts for the launcher there) has reported the status.
  void note(ChildProcess& child, int status);

  /// Cancels the pending restarts.
  void cancel_restarts();

  /// Returns true if no process is running.
  bool all_gone() const;

  /// Returns true if no process is running and no restart is pending.
  bool all_done() const { return all_gone() && restart_timers_.empty(); }

 private:
  SpawnOptions local_options(const ChildProcess& child) const;
  void print(const ChildProcess& child, std::string_view line, bool from_stderr);

  PollLoop& loop_;
  RunConsole& console_;
  CrewOptions options_;
  Reports reports_;
  std::vector<std::unique_ptr<ChildProcess>> children_;
  std::map<const ChildProcess*, PollLoop::Id> restart_timers_;
  /// A duplicate of the launcher's stdout. All processes inherit it, because the logger draws its progress line there.
  int console_file_;
};

}  // namespace trainyard::launch
