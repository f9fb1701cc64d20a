#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "launch/plan/plan.h"
#include "launch/run/line_splitter.h"
#include "launch/run/poll_loop.h"
#include "launch/run/spawn.h"

namespace trainyard::launch {

/// One planned process while it runs, through all its restarts: its pid, its output, its ladder of signals. Lives on
/// the launcher's thread; does not reap, since one waitpid() for all children does (Crew::reap).
class ChildProcess {
 public:
  using OnLine = std::function<void(std::string_view line, bool from_stderr)>;

  /// `planned` must outlive this object.
  ChildProcess(PollLoop& loop, const PlannedProcess& planned, std::uint32_t index, OnLine on_line);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  const PlannedProcess& planned() const { return planned_; }
  const std::string& name() const { return planned_.name; }
  /// Place in the plan: under this number shared buffers count the process, also after a restart.
  std::uint32_t index() const { return index_; }

  /// True if it runs components; false for an external program.
  bool has_components() const { return planned_.command.empty(); }
  /// 0 while it does not run.
  pid_t pid() const { return pid_; }
  bool running() const { return pid_ != 0; }
  /// What it printed last, of both streams, for the report of its failure.
  const std::deque<std::string>& last_lines() const { return last_lines_.lines(); }

  /// Throws if the program cannot be started; it then does not run.
  void start(const SpawnOptions& options);

  /// Takes what it has printed so far, without waiting for the poll loop.
  void read_now();

  /// To be called when it was reaped: takes the rest of its output and counts it as gone.
  void reaped();

  /// Notes one more restart; false if the policy allows none for an end of this kind.
  bool may_restart(bool failed);

  /// SIGINT now, SIGTERM after one `rung`, SIGKILL after two; to the whole process group, for a program may be a shell
  /// script. Does nothing if it is under way.
  void end(std::chrono::milliseconds rung);

  /// True from the first rung until it is started again: its end is our doing.
  bool being_ended() const { return ending_; }

  /// The last rung at once.
  void kill();

 private:
  void read_output(int file, LineSplitter& splitter, bool from_stderr, PollLoop::Id& watch);
  void climb(int step, std::chrono::milliseconds rung);

  PollLoop& loop_;
  const PlannedProcess& planned_;
  std::uint32_t index_;
  OnLine on_line_;
  pid_t pid_ = 0;
  FileDescriptor out_;
  FileDescriptor err_;
  PollLoop::Id out_watch_ = 0;
  PollLoop::Id err_watch_ = 0;
  PollLoop::Id ladder_timer_ = 0;
  bool ending_ = false;
  LineSplitter out_lines_;
  LineSplitter err_lines_;
  LastLines last_lines_{20};
  std::deque<PollLoop::Clock::time_point> restarts_;  ///< Within the policy's window.
};

/// "ended with exit code 3", "was killed by signal 11 (Segmentation fault)": what a wait status says.
std::string describe_wait_status(int status);

/// True unless the status is a normal exit with code 0.
bool is_failure(int status);

}  // namespace trainyard::launch
