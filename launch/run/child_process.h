// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "launch/plan/plan.h"
#include "launch/run/poll_loop.h"
#include "launch/run/process_output.h"
#include "launch/run/remote_processes.h"
#include "launch/run/spawn.h"

namespace trainyard::launch {

/// A process of the plan, with its pid and its output. The object stays the same when the process is restarted. It must
/// be used only on the thread of its poll loop. It does not reap the process: Crew::reap() does that for all processes
/// of this host, and on every other host, the agent (the process that acts for the launcher there) does it.
class ChildProcess {
 public:
  using OnLine = ProcessOutput::OnLine;

  /// `planned` is the process in the plan, and must outlive this object; `index` is its index there. `on_line` is
  /// called with every line that the process prints.
  ChildProcess(PollLoop& loop, const PlannedProcess& planned, std::uint32_t index, OnLine on_line);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  const PlannedProcess& planned() const { return planned_; }
  const std::string& name() const { return planned_.name; }
  /// Returns the index of the process in the plan, which a restart does not change. Under this index, shared buffers
  /// count the references that the process holds.
  std::uint32_t index() const { return index_; }

  /// Returns true if the process runs components, whether from plugins or as a program in another language. Returns
  /// false if it is an external program, which runs none.
  bool has_components() const { return planned_.has_components(); }
  /// Declares that the process runs on another host. Must be called before the process is started. `remote` must
  /// outlive this object.
  void live_on(RemoteProcesses& remote) { remote_ = &remote; }
  /// Returns true if the process runs on another host.
  bool is_remote() const { return remote_ != nullptr; }

  /// Returns the pid of the process on the host where it runs; 0 if the process is not running, or if the agent of
  /// another host has not yet reported the pid.
  pid_t pid() const { return pid_; }
  bool running() const { return running_; }
  /// Returns the last lines that the process has printed, on both streams, for the report of a failure.
  const std::deque<std::string>& last_lines() const { return output_.last_lines(); }

  /// Starts the process on this host. Throws kNotFound or kIo if the program cannot be started.
  void start(const SpawnOptions& options);
  /// Asks the agent of another host to start the process, and counts it as running from now on.
  void start_remotely();
  /// Returns the pid that the process had until it was last reaped; 0 if it is not known.
  pid_t last_pid() const { return last_pid_; }
  /// Records the pid of a process of another host, which the agent has reported after start_remotely().
  void started_remotely(pid_t pid) { pid_ = pid; }
  /// Adds a line that a process of another host has printed, as if the line had come through a pipe.
  void add_line(std::string_view line, bool from_stderr) { output_.add(line, from_stderr); }

  /// Reads the output that is already in the pipes, without waiting for the poll loop.
  void read_now() { output_.read_now(); }

  /// Reads the rest of the output and marks the process as not running. Must be called when the process has been
  /// reaped.
  void reaped();

  /// Records that a signal has stopped the process.
  void stopped_by(int signal) { stopped_by_ = signal; }
  /// Records that the process has continued after it was stopped by a signal.
  void continues() { stopped_by_.reset(); }
  /// Returns the signal that has stopped the process, or an empty optional if the process is not stopped.
  const std::optional<int>& stopped_by() const { return stopped_by_; }

  /// Returns true if the respawn policy allows another restart. The restart is counted immediately, even if it later
  /// fails. `failed` is true if the process ended with a failure.
  bool may_restart(bool failed);
  /// Returns how many restarts may_restart() has allowed since the run began, including those before the policy's
  /// window.
  std::size_t restarts() const { return all_restarts_; }

  /// Ends the process: sends SIGINT immediately, SIGTERM after the delay `rung`, and SIGKILL after the same delay
  /// again. The signals are sent to the whole process group, because the program may be a shell script. Does nothing if
  /// the process is not running or is already being ended.
  void end(std::chrono::milliseconds rung);

  /// Returns true if end() was called after the process was started.
  bool being_ended() const { return ending_; }

  /// Returns true if the process did not react to SIGINT and SIGTERM, so that end() had to send SIGKILL.
  bool was_deaf() const { return deaf_; }

  /// Sends SIGKILL to the process group immediately.
  void kill();

 private:
  void climb(int step, std::chrono::milliseconds rung);
  void send(int signal) const;

  PollLoop& loop_;
  const PlannedProcess& planned_;
  std::uint32_t index_;
  ProcessOutput output_;
  RemoteProcesses* remote_ = nullptr;
  bool running_ = false;
  pid_t pid_ = 0;
  pid_t last_pid_ = 0;
  PollLoop::Id ladder_timer_ = 0;
  bool ending_ = false;
  bool deaf_ = false;
  std::optional<int> stopped_by_;
  std::deque<PollLoop::Clock::time_point> restarts_;  ///< The restarts within the policy's window.
  std::size_t all_restarts_ = 0;
};

/// Returns a wait status as text: "ended with exit code 3" or "was killed by signal 11 (Segmentation fault)", for
/// example.
std::string describe_wait_status(int status);

/// Returns true if the process with the wait status `status` was ended by one of the signals. This includes an exit
/// code of 128 plus the number of a signal, because that is how a shell reports that a signal has ended its child.
bool ended_by(int status, std::initializer_list<int> signals);

/// Returns true unless the status is a normal exit with code 0.
bool is_failure(int status);

}  // namespace trainyard::launch
