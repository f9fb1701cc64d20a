// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "launch/plan/plan.h"
#include "launch/run/poll_loop.h"
#include "launch/run/process_output.h"
#include "launch/run/spawn.h"

namespace trainyard::launch {

/// One planned process, through all its restarts: its pid, its output, and the signals that end it. The object is used
/// only on the launcher's thread. It does not reap the process, because one waitpid() serves all children (Crew::reap).
class ChildProcess {
 public:
  using OnLine = ProcessOutput::OnLine;

  /// `planned` must outlive this object.
  ChildProcess(PollLoop& loop, const PlannedProcess& planned, std::uint32_t index, OnLine on_line);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  const PlannedProcess& planned() const { return planned_; }
  const std::string& name() const { return planned_.name; }
  /// Returns the index in the plan, under which shared buffers count the references of this process. A restart does not
  /// change it.
  std::uint32_t index() const { return index_; }

  /// Returns true if it runs components; false for an external program.
  bool has_components() const { return planned_.command.empty(); }
  /// Returns the pid; 0 while the process does not run.
  pid_t pid() const { return pid_; }
  bool running() const { return pid_ != 0; }
  /// Returns the last lines that the process printed, on both streams, for the report of its failure.
  const std::deque<std::string>& last_lines() const { return output_.last_lines(); }

  /// Starts the program. Throws if that fails; the process then does not run.
  void start(const SpawnOptions& options);

  /// Reads what the process has printed so far, without waiting for the poll loop.
  void read_now() { output_.read_now(); }

  /// Reads the rest of the output and marks the process as ended. Must be called when the process has been reaped.
  void reaped();

  /// Records that a signal has stopped it, or that it continues.
  void stopped_by(int signal) { stopped_by_ = signal; }
  void continues() { stopped_by_.reset(); }
  /// Returns the signal that has stopped it; nothing while it may run.
  const std::optional<int>& stopped_by() const { return stopped_by_; }

  /// Returns true if the policy allows another restart, and counts it. `failed` says whether the process ended with a
  /// failure.
  bool may_restart(bool failed);

  /// Sends SIGINT now, SIGTERM after one `rung`, and SIGKILL after two. `rung` is the delay between two signals. The
  /// signals are sent to the whole process group, because a program may be a shell script. Does nothing if the process
  /// is already being ended or is not running.
  void end(std::chrono::milliseconds rung);

  /// Returns true from the first signal until the process is started again. Its end was then requested.
  bool being_ended() const { return ending_; }

  /// Returns true if it has outlived the requests to end, so that SIGKILL had to end it.
  bool was_deaf() const { return deaf_; }

  /// Sends SIGKILL at once.
  void kill();

 private:
  void climb(int step, std::chrono::milliseconds rung);

  PollLoop& loop_;
  const PlannedProcess& planned_;
  std::uint32_t index_;
  ProcessOutput output_;
  pid_t pid_ = 0;
  PollLoop::Id ladder_timer_ = 0;
  bool ending_ = false;
  bool deaf_ = false;
  std::optional<int> stopped_by_;
  std::deque<PollLoop::Clock::time_point> restarts_;  ///< The restarts within the policy's window.
};

/// Describes a wait status: "ended with exit code 3", "was killed by signal 11 (Segmentation fault)".
std::string describe_wait_status(int status);

/// Returns true if one of the signals has ended the process, or if it has said so with its exit code, as shells do.
bool ended_by(int status, std::initializer_list<int> signals);

/// Returns true unless the status is a normal exit with code 0.
bool is_failure(int status);

}  // namespace trainyard::launch
