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

/// The settings shared by all processes of a run: the program that they execute, where they report, and which run they
/// belong to.
struct CrewOptions {
  std::string process_program;   ///< The path of `trainyard-process`, or of a stand-in.
  std::string control_endpoint;  ///< The address of the launcher's ControlChannel.
  std::string run;
  std::string run_directory;
  std::string keys;  ///< The keys of the run, as text, for processes with components.
  bool flush_denormals = true;
};

/// All processes of a run. The crew starts them, prints their output, and detects when they end. The supervisor decides
/// how to react to an end.
class Crew {
 public:
  /// What the crew reports of a process, with its wait status.
  struct Reports {
    std::function<void(ChildProcess& child, int wait_status)> ended;    ///< It has been reaped.
    std::function<void(ChildProcess& child, int wait_status)> changed;  ///< A signal has stopped or continued it.
  };

  /// `plan` must outlive the crew.
  Crew(PollLoop& loop, RunConsole& console, const Plan& plan, CrewOptions options, Reports reports);
  ~Crew();

  /// Returns one entry for each process of the plan, in the order of the plan, whether it runs or not.
  const std::vector<std::unique_ptr<ChildProcess>>& children() const { return children_; }

  /// Returns the process of this name, or null if there is none.
  ChildProcess* find(const std::string& name) const;

  /// Starts the process. Throws if the program cannot be started.
  void start(ChildProcess& child);

  /// Starts the process again after the delay in its policy. Calls `failed` if that is not possible.
  void start_later(ChildProcess& child, std::function<void(const std::string&)> failed);

  /// Reaps all children that have ended, and calls the reports for them and for those that were stopped or continued.
  /// Must be called on SIGCHLD.
  void reap();

  /// Prevents all further restarts.
  void no_more_restarts();

  /// Returns true if no process runs.
  bool all_gone() const;

  /// Returns true if no process runs and no restart is pending.
  bool all_done() const { return all_gone() && restart_timers_.empty(); }

 private:
  SpawnOptions spawn_options(const ChildProcess& child) const;
  void print(const ChildProcess& child, std::string_view line, bool from_stderr);
  // Takes the news that waitpid() brought.
  void note(ChildProcess& child, int status);

  PollLoop& loop_;
  RunConsole& console_;
  CrewOptions options_;
  Reports reports_;
  std::vector<std::unique_ptr<ChildProcess>> children_;
  std::map<const ChildProcess*, PollLoop::Id> restart_timers_;
  /// The launcher's stdout, which all processes inherit, because the logger draws its progress line there.
  int console_file_;
};

}  // namespace trainyard::launch
