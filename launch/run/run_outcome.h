// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace trainyard::launch {

/// The exit codes of a launch. A run that failed returns kFailed even if it was interrupted before, because what went
/// wrong matters more. The command adds its own codes for what goes wrong before a run begins
/// (tools/trainyard/exit_codes.h).
struct ExitCode {
  static constexpr int kSuccess = 0;
  static constexpr int kFailed = 1;
  static constexpr int kInterrupted = 130;
};

/// What has become of a run. These are facts and no phases: each can become true in any phase, and none is taken back.
struct RunOutcome {
  bool failed = false;
  bool interrupted = false;           ///< The user has asked the run to stop.
  std::optional<std::string> finish;  ///< What the first component said that found the run finished, in words.

  /// Failure counts before interruption: a run that was interrupted also finishes with success.
  int exit_code() const {
    if (failed) return ExitCode::kFailed;
    return interrupted ? ExitCode::kInterrupted : ExitCode::kSuccess;
  }
};

}  // namespace trainyard::launch
