// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace trainyard::launch {

/// Where a run is, from the start of its first process to the end of its last. The phases stand in the order in which a
/// run goes through them; a run that ends early leaves some out.
enum class RunPhase {
  kStarting,      ///< The processes start and configure their components.
  kConnecting,    ///< All have been told all endpoints; they connect, and their components become active.
  kRunning,       ///< Every component has been active. Restarts do not change that.
  kAsking,        ///< The run is to stop; the components decide when it is finished.
  kDeactivating,  ///< The components become inactive.
  kFinalizing,    ///< The components become finalized.
  kEnding,        ///< The processes end.
  kForced,        ///< The user has lost patience: all processes are signalled at once.
};

/// The phase in a word: "starting", "connecting", ...
std::string_view name_of(RunPhase phase);

/// The changes that a run has; there are no others. Deactivation may begin again, in a hurry, and force may be used
/// again.
bool may_follow(RunPhase now, RunPhase next);

/// Holds the phase of a run. The start sequence and the stop sequence change it, each as far as its own part goes.
class RunProgress {
 public:
  RunPhase phase() const { return phase_; }

  /// True until every component has been active, unless the run is stopped before.
  bool starting() const { return phase_ < RunPhase::kRunning; }

  /// True once the run is on its way to its end: nothing more is started.
  bool stopping() const { return phase_ > RunPhase::kRunning; }

  /// Throws kInternal, with the names of both phases, unless `next` may follow.
  void enter(RunPhase next);

 private:
  RunPhase phase_ = RunPhase::kStarting;
};

}  // namespace trainyard::launch
