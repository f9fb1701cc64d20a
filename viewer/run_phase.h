// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "messages/words.h"

namespace trainyard::viewer {

/// What a run is doing, or how it ended.
enum class RunPhase : std::uint8_t {
  kStarting,
  kRunning,
  kPaused,
  kEnded,
  kFailed,
  kInterrupted,  ///< A user or a signal stopped the run.
  kKilled,       ///< The launcher was killed.
  kUnknown,      ///< The run has ended, but it is not known how.
  kRecording,    ///< The run is shown from a recording, which may not contain how the run ended.
};
constexpr auto words_of(RunPhase) {
  return words("state of a run", "starting", "running", "paused", "ended", "failed", "interrupted", "killed", "unknown",
               "recording");
}
inline bool is_over(RunPhase phase) { return phase >= RunPhase::kEnded; }

}  // namespace trainyard::viewer
