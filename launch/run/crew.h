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

/// What the processes of a run have in common: how they learn where they belong.
struct CrewOptions {
  std::string process_program;   ///< The path of `trainyard-process`, or of a stand-in.
  std::string control_endpoint;  ///< The address to which it reports.
  std::string run;
  std::string run_directory;
};

/// All processes of a run. The crew starts them, prints what they print, and notices when they end. It decides nothing:
/// what an end means is the supervisor's business.
class Crew {
 public:
  using OnEnd = std::function<void(ChildProcess& child, int wait_status)>;

  /// `plan` must outlive the crew.
  Crew(PollLoop& loop, RunConsole& console, const Plan& plan, CrewOptions options, OnEnd on_end);
  ~Crew();

  /// One for each process of the plan, in its order, whether it runs or not.
  const std::vector<std::unique_ptr<ChildProcess>>& children() const { return children_; }

  /// The process of this name, or null if there is none.
  ChildProcess* find(const std::string& name) const;

  /// Throws if the program cannot be started.
  void start(ChildProcess& child);

  /// Starts the process again after the delay in its policy. `failed` is told if that is not possible.
  void start_later(ChildProcess& child, std::function<void(const std::string&)> failed);

  /// Reaps all children that have ended. Must be called when one may have ended.
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
  int console_file_;  ///< Our stdout, which all processes inherit: the logger draws its progress line there.
};

}  // namespace trainyard::launch
