// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "launch/run/run_context.h"

namespace trainyard::launch {

/// Detects when the run makes no progress. After half of the plan's progress_timeout without progress, it tells the
/// user which process or component the run waits for; after the whole timeout (the deadline), it calls a callback.
/// While a signal has stopped one of the processes, the timeout is at most LaunchOptions::stopped, because that process
/// cannot be working. If progress_timeout is 0, there is no deadline. If the run has no edges, there is a deadline only
/// while a process is stopped.
///
/// A run makes progress when an edge (a connection between components) carries a message, or when one of its processes
/// on this host reads or writes a large amount of data on a disk, for example to save a large checkpoint. If the plan
/// has edges with the policy `block`, no other edges count, because a component that publishes at regular intervals on
/// another edge would hide that all other components wait. The time does not count while a debugger is attached to a
/// process of the run, while the whole run is suspended, or while it is paused (RunContext::pauses).
class ProgressWatch {
 public:
  using Say = std::function<void(const std::string& sentence)>;

  /// `late` is called at the deadline, with a sentence that names what the run waits for. The supervisor then ends the
  /// run.
  ProgressWatch(RunContext& run, Say late);
  ~ProgressWatch();
  ProgressWatch(const ProgressWatch&) = delete;
  ProgressWatch& operator=(const ProgressWatch&) = delete;

  /// Returns how long the run has made no progress. The time is measured only in the phases kRunning and kAsking.
  std::chrono::milliseconds standstill() const;

  /// Prints a message that a signal has stopped or continued a process. `wait_status` is the status that waitpid()
  /// returned.
  void on_changed(const ChildProcess& child, int wait_status);

  /// Stops watching a process that has ended.
  void on_gone(const std::string& process) { pulses_.erase(process); }

  /// Returns a sentence, without a full stop, that names what the run waits for: the processes that are stopped; if
  /// there are none, the processes that do not answer; otherwise the components that are busy. If there is none of
  /// these, the sentence says that every component waits for another.
  std::string who() const;

 private:
  /// The most recent information about a process.
  struct Pulse {
    std::uint64_t sent = 0;        ///< The number of messages that it has sent on the edges that count.
    std::uint64_t disk_bytes = 0;  ///< The number of bytes that it has read from and written to disks.
    /// Texts for the user, such as "component 'x' in process 'main' has been busy for 12 s".
    std::vector<std::string> busy;
    PollLoop::Clock::time_point asked;  ///< When the process was last asked for its pulse.
    bool open = false;                  ///< True until the process has answered.
  };

  void look();
  void look_at_guard();
  void ask(const ChildProcess& child);
  void answered(const ChildProcess& child, const std::string& body);
  void progress();
  void start_again();
  // Returns how long the run can currently go without progress; 0 means no limit.
  std::chrono::milliseconds limit() const;
  bool stands_by_debugger() const;

  RunContext& run_;
  Say late_;
  bool counts_blocking_;  ///< True if the plan has edges with the policy `block`.
  std::chrono::milliseconds interval_;
  std::map<std::string, Pulse> pulses_;
  PollLoop::Clock::time_point looked_;
  PollLoop::Clock::duration still_{};
  bool warned_ = false;
  bool guard_stopped_ = false;
  PollLoop::Id timer_ = 0;
};

}  // namespace trainyard::launch
