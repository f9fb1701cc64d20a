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

std::string RunOutcome::last_words() const {
  if (failure_) {
    // Its first line says what happened; the rest was shown when it happened.
    const std::string what = failure_->substr(0, failure_->find('\n'));
    const std::string before = interrupted_ ? fmt::format(" (after {})", *interrupted_) : "";
    // What the components managed to do all the same, such as to save a checkpoint.
    const std::string after = finished_ ? fmt::format("; {}", *finished_) : "";
    return fmt::format("run failed: {}{}{}", what, before, after);
  }
  if (finished_) return fmt::format("run finished: {}", *finished_);
  if (forced_) return fmt::format("run ended: all processes were ended at once, after {}", *interrupted_);
  if (interrupted_) return fmt::format("run ended: {}", *interrupted_);
  return "run finished: every program has ended";
}

}  // namespace trainyard::launch
