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

/// Measures for how long a run has stood still, says who holds it up, and ends it at its deadline, the plan's
/// progress_timeout. A process that a signal has stopped gets less time, because it cannot be at work.
///
/// A run makes progress when an edge carries a message, or when one of its processes reads from a disk or writes to it,
/// as for a large checkpoint. Only edges with the policy `block` count if there are any, because a component that
/// publishes by a timer would hide that the others wait. The clock stands still while a debugger is attached to a
/// process of the run, and while the whole run is suspended or at rest (RunContext::pauses).
class ProgressWatch {
 public:
  using Say = std::function<void(const std::string& sentence)>;

  /// `late` is called once, at the deadline, with a description of who holds the run up.
  ProgressWatch(RunContext& run, Say late);
  ~ProgressWatch();
  ProgressWatch(const ProgressWatch&) = delete;
  ProgressWatch& operator=(const ProgressWatch&) = delete;

  /// Returns for how long the run has made no progress. It is 0 while the run starts.
  std::chrono::milliseconds standstill() const;

  /// Reports that a signal has stopped a process or continued it.
  void on_changed(const ChildProcess& child, int wait_status);

  /// Forgets a process that has ended.
  void on_gone(const std::string& process) { pulses_.erase(process); }

  /// Names who holds the run up, in one sentence without its full stop.
  std::string who() const;

 private:
  /// What a process has last said of itself, and whether a question is open.
  struct Pulse {
    std::uint64_t sent = 0;
    std::uint64_t disk_bytes = 0;
    std::vector<std::string> busy;  ///< "component 'x' has been busy for 12 s", the longest first.
    PollLoop::Clock::time_point asked;
    bool open = false;
  };

  void look();
  void look_at_guard();
  void ask(const ChildProcess& child);
  void answered(const ChildProcess& child, const std::string& body);
  void progress();
  void start_again();
  // The time that the run may stand still now; 0 for any time.
  std::chrono::milliseconds limit() const;
  bool stands_by_debugger() const;

  RunContext& run_;
  Say late_;
  bool counts_blocking_;  ///< True if the plan has edges that block.
  std::chrono::milliseconds interval_;
  std::map<std::string, Pulse> pulses_;
  PollLoop::Clock::time_point looked_;
  PollLoop::Clock::duration still_{};
  bool warned_ = false;
  bool guard_stopped_ = false;
  PollLoop::Id timer_ = 0;
};

}  // namespace trainyard::launch
