// SPDX-License-Identifier: Apache-2.0
#include "launch/run/run_phase.h"

#include "messages/error.h"

namespace trainyard::launch {

std::string_view phase_name(RunPhase phase) {
  switch (phase) {
    case RunPhase::kStarting:
      return "starting";
    case RunPhase::kConnecting:
      return "connecting";
    case RunPhase::kRunning:
      return "running";
    case RunPhase::kAsking:
      return "asking";
    case RunPhase::kDeactivating:
      return "deactivating";
    case RunPhase::kFinalizing:
      return "finalizing";
    case RunPhase::kEnding:
      return "ending";
    case RunPhase::kForced:
      return "forced";
  }
  return "unknown";
}

// The cases are listed by the next phase, because only a few phases can precede each phase, but many phases can follow
// each phase.
bool may_follow(RunPhase now, RunPhase next) {
  switch (next) {
    case RunPhase::kStarting:
      return false;
    case RunPhase::kConnecting:
      return now == RunPhase::kStarting;
    case RunPhase::kRunning:
      return now == RunPhase::kConnecting;
    case RunPhase::kAsking:
      return now <= RunPhase::kRunning;
    case RunPhase::kDeactivating:
      return now <= RunPhase::kDeactivating;
    case RunPhase::kFinalizing:
      return now == RunPhase::kDeactivating;
    case RunPhase::kEnding:
      return now == RunPhase::kFinalizing;
    case RunPhase::kForced:
      return now >= RunPhase::kAsking;
  }
  return false;
}

void RunProgress::enter(RunPhase next) {
  if (!may_follow(phase_, next)) {
    throw Error(Code::kInternal, "a run cannot go from the phase '{}' to '{}'", phase_name(phase_), phase_name(next));
  }
  phase_ = next;
}

}  // namespace trainyard::launch
