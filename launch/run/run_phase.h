// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace trainyard::launch {

/// The phase of a run, from the start of its first process to the end of its last. The phases are listed in the order
/// in which a run goes through them; a run that ends early leaves some out.
enum class RunPhase {
  kStarting,      ///< The processes start and configure their components.
  kConnecting,    ///< All processes know all endpoints; they connect, and their components become active.
  kRunning,       ///< Every component has been active. Restarts do not change that.
  kAsking,        ///< The run will stop; the components decide when it is finished.
  kDeactivating,  ///< The components become inactive.
  kFinalizing,    ///< The components become finalized.
  kEnding,        ///< The processes end.
  kForced,        ///< The user has interrupted the run again: all processes get signals at once.
};

/// Returns the phase as a word: "starting", "connecting", ...
std::string_view name_of(RunPhase phase);

/// Returns true if a run may change from phase `now` to `next`. Deactivation may begin again, for all components at
/// once, and force may be used again.
bool may_follow(RunPhase now, RunPhase next);

/// Holds the phase of a run. The start sequence and the stop sequence change it, each in its own part of the run.
class RunProgress {
 public:
  RunPhase phase() const { return phase_; }

  /// Returns true until every component has been active, or until the run is stopped.
  bool starting() const { return phase_ < RunPhase::kRunning; }

  /// Returns true once the run is ending, so that nothing more is started.
  bool stopping() const { return phase_ > RunPhase::kRunning; }

  /// Throws kInternal, with the names of both phases, unless `next` may follow.
  void enter(RunPhase next);

 private:
  RunPhase phase_ = RunPhase::kStarting;
};

}  // namespace trainyard::launch
