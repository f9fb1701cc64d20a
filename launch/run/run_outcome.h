// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "archive/launch_record.h"

namespace trainyard::launch {

/// The exit codes of a run. If a run has both failed and been interrupted, its code is kFailed. The command `trainyard`
/// has further codes for errors that occur before a run begins (tools/trainyard/exit_codes.h).
struct ExitCode {
  static constexpr int kSuccess = 0;
  static constexpr int kFailed = 1;
  static constexpr int kInterrupted = 130;
};

/// The facts that decide how a run ends: failures, interrupts, and the report that the run is finished. A fact can be
/// recorded in any phase of the run, and is never revoked.
class RunOutcome {
 public:
  /// Records a failure. Only the first failure is kept, because later failures are often its consequences.
  void fail(const std::string& what) {
    if (!failure_) failure_ = what;
  }
  /// Records a component's report that the run is finished, with the reason and with `success` false if the run failed.
  /// Only the first report counts.
  void finish(const std::string& reason, bool success);
  /// Records that the user has asked the run to stop. `why` is the reason that last_words() gives, such as "SIGINT
  /// came". Only the first request is kept.
  void interrupt(const std::string& why) {
    if (!interrupted_) interrupted_ = why;
  }
  /// Records that all processes are ended immediately, because the user has interrupted the run again, or while it was
  /// ending after a failure. interrupt() must be called, too.
  void force() { forced_ = true; }

  bool failed() const { return failure_.has_value(); }
  bool interrupted() const { return interrupted_.has_value(); }
  /// Returns true if a component has reported that the run is finished.
  bool finished() const { return finished_.has_value() || reported_failure_; }

  /// Returns the ExitCode of the run: kFailed if there was a failure, otherwise kInterrupted if the user asked the run
  /// to stop, otherwise kSuccess.
  int exit_code() const;

  /// Returns whether the run was completed, failed or was interrupted; see exit_code().
  archive::LaunchState state() const;

  /// Returns true as soon as one of the facts above has been recorded.
  bool is_known() const { return failed() || interrupted() || finished(); }

  /// Returns state() if the outcome is known, otherwise kRunning. While the run ends, a later failure can still change
  /// the state.
  archive::LaunchState state_so_far() const { return is_known() ? state() : archive::LaunchState::kRunning; }

  /// Returns why the run has ended or is ending, such as "max_steps = 1000 reached". If none of the facts above has
  /// been recorded, this is "every program has ended".
  std::string reason() const;

  /// Returns the last line of a run's output, which states how the run ended and why, for example "run finished:
  /// stopped by request". For a run that failed, it begins with "run failed".
  std::string last_words() const;

 private:
  std::optional<std::string> failure_;      ///< The first failure.
  std::optional<std::string> finished_;     ///< The reason in the first report that the run is finished.
  std::optional<std::string> interrupted_;  ///< Why the run was asked to stop.
  bool reported_failure_ = false;           ///< True if a component has reported that the run failed.
  bool forced_ = false;
};

}  // namespace trainyard::launch
