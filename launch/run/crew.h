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

/// What the processes of a run have in common: how they are told where they belong.
struct CrewOptions {
  std::string process_program;   ///< Path of `trainyard-process`, or a stand-in.
  std::string control_endpoint;  ///< Where it reports to.
  std::string run;
  std::string run_directory;
};

/// All processes of a run: starts them, prints what they print, notices their ends. Decides nothing: what an end means
/// is the supervisor's business.
class Crew {
 public:
  using OnEnd = std::function<void(ChildProcess& child, int wait_status)>;

  /// `plan` must outlive the crew.
  Crew(PollLoop& loop, RunConsole& console, const Plan& plan, CrewOptions options, OnEnd on_end);
  ~Crew();

  /// One for each process of the plan, in its order, whether it runs or not.
  const std::vector<std::unique_ptr<ChildProcess>>& children() const { return children_; }

  /// Null if there is no process of this name.
  ChildProcess* find(const std::string& name) const;

  /// Throws if the program cannot be started.
  void start(ChildProcess& child);

  /// Starts it again after its policy's delay. `failed` is told when that is not possible.
  void start_later(ChildProcess& child, std::function<void(const std::string&)> failed);

  /// To be called when a child may have ended: reaps all that have.
  void reap();

  /// From now on nothing is started again.
  void no_more_restarts();

  /// True if nothing runs.
  bool all_gone() const;

  /// True if nothing runs and nothing is about to start again.
  bool all_done() const { return all_gone() && restart_timers_.empty(); }

 private:
  SpawnOptions spawn_options(const ChildProcess& child) const;
  void print(const ChildProcess& child, std::string_view line, bool from_stderr);

  PollLoop& loop_;
  RunConsole& console_;
  CrewOptions options_;
  OnEnd on_end_;
  std::vector<std::unique_ptr<ChildProcess>> children_;
  std::map<const ChildProcess*, PollLoop::Id> restart_timers_;
  int console_file_;  ///< Our stdout, inherited by all: the logger draws its progress line there.
};

}  // namespace trainyard::launch
