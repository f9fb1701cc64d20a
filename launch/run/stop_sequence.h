// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "launch/run/run_context.h"

namespace trainyard::launch {

/// The end of a run. Every run ends with one or more of these steps, and each step has a deadline:
///
///    interrupt:  components with a service "stop" are asked to stop the run; one reports that the run is finished
///    rescue:     the same after a failure, but only as long as the run makes progress
///    finish:     components become inactive one by one, sources first, each after its messages have been handled;
///                then components are finalized; then processes end by themselves, and external programs get SIGINT
///    abort:      the same as finish, but for all components simultaneously and with shorter deadlines
///    force:      all processes are ended by SIGINT, then SIGTERM, then SIGKILL
///
/// The sequence is complete when every process has been reaped. Another call during the sequence can only make it
/// faster.
class StopSequence {
 public:
  /// The callbacks of the sequence.
  struct Links {
    /// Called for each part of the run that does not stop properly, with a text about it.
    std::function<void(const std::string&)> failed;
    std::function<void()> gone;                             ///< Called when every process has been reaped.
    std::function<std::chrono::milliseconds()> standstill;  ///< Returns how long the run has made no progress.
  };
  StopSequence(RunContext& run, Links links);
  ~StopSequence();
  StopSequence(const StopSequence&) = delete;
  StopSequence& operator=(const StopSequence&) = delete;

  /// Asks the components to stop the run, because the user has requested it. If no component can be asked, or if the
  /// run then makes no progress for the plan's stop_timeout, the run is ended by finish().
  void interrupt();
  /// Asks the components to stop a run that has failed, so that they can still save their state. If the run then makes
  /// no progress for a few seconds, it is ended by abort(). Returns false if the run is not in the phase kRunning, or
  /// if no component can be asked; the caller must then call abort().
  bool rescue();
  /// Ends the run normally, for example after a component has reported that the run is finished.
  void finish();
  /// Ends the run quickly after a failure. Components can still save data.
  void abort();
  /// Ends all processes by signals: SIGINT, then SIGTERM, then SIGKILL. This is called when the user interrupts the run
  /// again, or interrupts it while it is ending after a failure. A second call sends SIGKILL immediately.
  void force();

  /// Must be called after every change of the components' states.
  void on_state_changed();
  /// Must be called when a process has been reaped.
  void on_gone();

 private:
  // Calls the service "stop" of all active components that have it. Returns false if there are none.
  bool ask_to_stop(const std::string& body);
  // Calls `late` if the components have not stopped the run and the run has made no progress for the time `patience`.
  void await_stop(std::chrono::milliseconds patience, const std::function<void()>& late);
  void look_after(std::chrono::milliseconds delay, std::chrono::milliseconds patience,
                  const std::function<void()>& late);
  void deactivate(TransitionSequence::Pace pace, std::chrono::milliseconds deadline);
  void finalize();
  void end_processes();
  // Returns true if all components of the process are finalized, so that it ends without a signal.
  bool ends_by_itself(const ChildProcess& child) const;
  // Returns true while the components decide when the run is finished.
  bool asking() const { return run_.progress.phase() == RunPhase::kAsking; }
  void set_deadline(std::chrono::milliseconds deadline, std::function<void()> late);
  // Reports which components or processes are still awaited when a deadline passes.
  void report_awaited();
  bool has_stop(const ComponentPlan& component) const;

  RunContext& run_;
  Links links_;
  std::optional<TransitionSequence> sequence_;
  std::chrono::milliseconds patience_;  ///< The time allowed for each step after the components have been asked.
  PollLoop::Id deadline_ = 0;
  int asked_ = 0;  ///< The number of components that have been asked to stop and have not refused.
};

}  // namespace trainyard::launch
