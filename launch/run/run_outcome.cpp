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
    // Only the first line of the failure is repeated. The rest was printed when the failure occurred.
    const std::string what = failure_->substr(0, failure_->find('\n'));
    const std::string before = interrupted_ ? fmt::format(" (after {})", *interrupted_) : "";
    // The reason can contain what the components have achieved nevertheless, such as saving a checkpoint.
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
  // If no component has reported that the run is finished, a signal has ended the run.
  return (interrupted_ && !finished_ ? "run ended: " : "run finished: ") + reason();
}

}  // namespace trainyard::launch
