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

/// One planned process while it runs, through all its restarts: its pid, its output, and the signals that end it. It
/// lives on the launcher's thread. It does not reap, since one waitpid() serves all children (Crew::reap).
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
  /// The place in the plan. Shared buffers count the process under this number, even after a restart.
  std::uint32_t index() const { return index_; }

  /// True if it runs components; false for an external program.
  bool has_components() const { return planned_.command.empty(); }
  /// 0 while it does not run.
  pid_t pid() const { return pid_; }
  bool running() const { return pid_ != 0; }
  /// What it printed last, on both streams, for the report of its failure.
  const std::deque<std::string>& last_lines() const { return last_lines_.lines(); }

  /// Starts the program. Throws if that fails; the process then does not run.
  void start(const SpawnOptions& options);

  /// Takes what it has printed so far, without waiting for the poll loop.
  void read_now();

  /// Must be called when it has been reaped: takes the rest of its output and counts it as gone.
  void reaped();

  /// Counts one more restart. Returns false if the policy allows none for an end of this kind.
  bool may_restart(bool failed);

  /// Sends SIGINT now, SIGTERM after one `rung`, and SIGKILL after two. The signals go to the whole process group,
  /// because a program may be a shell script. Does nothing if this is already under way.
  void end(std::chrono::milliseconds rung);

  /// True from the first signal until it is started again: its end is then our doing.
  bool being_ended() const { return ending_; }

  /// Sends SIGKILL at once.
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
  std::deque<PollLoop::Clock::time_point> restarts_;  ///< The restarts within the policy's window.
};

/// What a wait status says: "ended with exit code 3", "was killed by signal 11 (Segmentation fault)".
std::string describe_wait_status(int status);

/// True unless the status is a normal exit with code 0.
bool is_failure(int status);

}  // namespace trainyard::launch
