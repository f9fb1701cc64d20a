// SPDX-License-Identifier: Apache-2.0
#include "launch/run/run_outcome.h"

#include <fmt/format.h>

namespace trainyard::launch {

void RunOutcome::finish(const std::string& reason, bool success) {
  if (finished()) return;
  if (success) {
    finished_ = reason;
  } else {
    reported_failure_ = true;
    fail(reason);
  }
}

int RunOutcome::exit_code() const {
  if (failure_) return ExitCode::kFailed;
  return interrupted_ ? ExitCode::kInterrupted : ExitCode::kSuccess;
}

archive::LaunchState RunOutcome::state() const {
  if (failure_) return archive::LaunchState::kFailed;
  return interrupted_ ? archive::LaunchState::kInterrupted : archive::LaunchState::kEnded;
}

std::string RunOutcome::reason() const {
  if (failure_) {
    // Its first line says what happened; the rest was shown when it happened.
    const std::string what = failure_->substr(0, failure_->find('\n'));
    const std::string before = interrupted_ ? fmt::format(" (after {})", *interrupted_) : "";
    // What the components managed to do all the same, such as to save a checkpoint.
    const std::string after = finished_ ? fmt::format("; {}", *finished_) : "";
    return fmt::format("{}{}{}", what, before, after);
  }
  if (finished_) return *finished_;
  if (forced_) return fmt::format("all processes were ended at once, after {}", *interrupted_);
  if (interrupted_) return *interrupted_;
  return "every program has ended";
}

std::string RunOutcome::last_words() const {
  if (failure_) return "run failed: " + reason();
  // A run that no component has finished was ended by a signal.
  return (interrupted_ && !finished_ ? "run ended: " : "run finished: ") + reason();
}

}  // namespace trainyard::launch
