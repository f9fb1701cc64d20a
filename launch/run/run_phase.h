// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace trainyard::launch {

/// The phases of a run, in their order. A run that ends early skips some of them.
enum class RunPhase {
  kStarting,      ///< The processes start, and configure their components.
  kConnecting,    ///< The processes connect to each other, and their components become active.
  kRunning,       ///< All components have become active. The restart of a process does not change the phase.
  kAsking,        ///< Components have been asked to stop the run; they decide when it is finished.
  kDeactivating,  ///< The components become inactive.
  kFinalizing,    ///< The components become finalized.
  kEnding,        ///< The processes end.
  kForced,        ///< The user wants the run to end immediately, and all processes are ended by signals.
};

/// Returns the phase as a word: "starting", "connecting", ...
std::string_view phase_name(RunPhase phase);

/// Returns true if a run can change from the phase `now` to the phase `next`. The phases kDeactivating and kForced can
/// each be entered again: deactivation can be repeated for all components simultaneously, and the user can interrupt a
/// run repeatedly.
bool may_follow(RunPhase now, RunPhase next);

/// The current phase of a run. The start sequence changes it up to kRunning, and the stop sequence changes it after
/// that.
class RunProgress {
 public:
  RunPhase phase() const { return phase_; }

  /// Returns true until all components have become active, or until the run is stopped before that.
  bool starting() const { return phase_ < RunPhase::kRunning; }

  /// Returns true if the run is ending, so that no process may be started.
  bool stopping() const { return phase_ > RunPhase::kRunning; }

  /// Changes the phase to `next`. Throws kInternal, with the names of both phases, if may_follow() does not allow the
  /// change.
  void enter(RunPhase next);

 private:
  RunPhase phase_ = RunPhase::kStarting;
};

}  // namespace trainyard::launch
