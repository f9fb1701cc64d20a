// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace trainyard::launch {

/// The exit codes of a launch. A run that failed returns kFailed even if it was interrupted before, because the failure
/// matters more. The command adds its own codes for errors before a run begins (tools/trainyard/exit_codes.h).
struct ExitCode {
  static constexpr int kSuccess = 0;
  static constexpr int kFailed = 1;
  static constexpr int kInterrupted = 130;
};

/// The outcome of a run. These are facts, not phases: each can become true in any phase, and none is taken back.
class RunOutcome {
 public:
  /// Records that something went wrong. The first failure is the one that the run's last words name, because later ones
  /// are often its consequences.
  void fail(const std::string& what) {
    if (!failure_) failure_ = what;
  }
  /// Records that a component said that the run is finished. The first one is believed.
  void finish(const std::string& reason, bool success);
  /// Records that the user has asked the run to stop, with words such as "SIGINT came".
  void interrupt(const std::string& why) {
    if (!interrupted_) interrupted_ = why;
  }
  /// Records that the user has lost patience.
  void force() { forced_ = true; }

  bool failed() const { return failure_.has_value(); }
  bool interrupted() const { return interrupted_.has_value(); }
  /// Returns true once a component has said that the run is finished.
  bool finished() const { return finished_.has_value() || reported_failure_; }

  /// Failure takes precedence, because a run that is interrupted may also finish with success.
  int exit_code() const;

  /// Returns the sentence that ends every run, and says how it ended and why: "run finished: stopped by request". It
  /// never says "finished" of a run that failed.
  std::string last_words() const;

 private:
  std::optional<std::string> failure_;      ///< The first thing that went wrong.
  std::optional<std::string> finished_;     ///< What the first component said that found the run finished.
  std::optional<std::string> interrupted_;  ///< Why the run was asked to stop.
  bool reported_failure_ = false;           ///< A component has said that the run failed.
  bool forced_ = false;
};

}  // namespace trainyard::launch
