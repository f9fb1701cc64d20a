// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "launch/run/run_context.h"

namespace trainyard::launch {

/// Ends a run. Every run ends in these steps, whatever the reason, and each step has a deadline.
///
///    interrupt:  components with a service "stop" are asked; one of them says that the run is finished
///    rescue:     as interrupt, after a failure, but only as long as the run still makes progress
///    finish:     components become inactive, sources first, each when what it sent has been handled; then finalized;
///                then processes end by themselves, external programs get SIGINT
///    abort:      the same, but all components at once and with shorter deadlines
///    force:      SIGINT -> SIGTERM -> SIGKILL for all, at once
///
/// The sequence is complete when every process has been reaped. A later call can only speed it up.
class StopSequence {
 public:
  /// What the sequence needs to know and to tell.
  struct Links {
    std::function<void(const std::string&)> failed;         ///< Told what did not stop properly.
    std::function<void()> gone;                             ///< Called when every process has been reaped.
    std::function<std::chrono::milliseconds()> standstill;  ///< Tells for how long the run has made no progress.
  };
  StopSequence(RunContext& run, Links links);
  ~StopSequence();
  StopSequence(const StopSequence&) = delete;
  StopSequence& operator=(const StopSequence&) = delete;

  /// Asks the components to stop the run, because the user has requested it. The plan's stop_timeout counts from the
  /// last progress.
  void interrupt();
  /// Asks the components to stop a run that has failed, so that they save what is sound. A run that cannot stop in
  /// order any more stands still, and is aborted soon. Returns false if none can be asked.
  bool rescue();
  /// Ends the run normally, because a component has reported its end or none can be asked.
  void finish();
  /// Ends the run quickly after a failure; components may still save data.
  void abort();
  /// Sends signals to all processes, because the user has interrupted the run again. A second call kills them.
  void force();

  /// Must be called after every change of the components' states.
  void on_state_changed();
  /// Must be called when a process has been reaped.
  void on_gone();

 private:
  // Asks all that have a service "stop". Returns false if there are none.
  bool ask_to_stop(const std::string& body);
  // Calls `late` when the components have not stopped the run and nothing has moved for `patience`.
  void await_stop(std::chrono::milliseconds patience, const std::function<void()>& late);
  void look_after(std::chrono::milliseconds delay, std::chrono::milliseconds patience,
                  const std::function<void()>& late);
  void deactivate(TransitionSequence::Pace pace, std::chrono::milliseconds deadline);
  void finalize();
  void end_processes();
  // Returns true if all components of the process are finalized, so that it ends without a signal.
  bool ends_by_itself(const ChildProcess& child) const;
  // Returns true while the components decide when the run is over.
  bool asking() const { return run_.progress.phase() == RunPhase::kAsking; }
  void set_deadline(std::chrono::milliseconds deadline, std::function<void()> late);
  // Reports which components or processes are still awaited when a deadline passes.
  void report_awaited();
  bool has_stop(const ComponentPlan& component) const;

  RunContext& run_;
  Links links_;
  std::optional<TransitionSequence> sequence_;
  std::chrono::milliseconds patience_;  ///< The deadline of each step after the first.
  PollLoop::Id deadline_ = 0;
  int asked_ = 0;  ///< The number of components whose answer to "stop" is open.
};

}  // namespace trainyard::launch
