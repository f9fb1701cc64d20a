// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>

namespace trainyard::core {

/// Limits how many keys of strangers are examined. Any number of keys may be admitted in a short time, but only few may
/// fail.
class ExaminationLimit {
 public:
  using Clock = std::chrono::steady_clock;

  /// At most `at_once` keys are examined at the same time or fail at once, and `per_second` more may fail per second.
  ExaminationLimit(double at_once, double per_second)
      : at_once_(at_once), per_second_(per_second), allowance_(at_once) {}

  /// Earns what has become allowed since the last call.
  void earn(Clock::time_point now);
  /// Returns true if another examination may begin.
  bool may_begin() const { return allowance_ >= 1; }
  void begin();
  /// Ends an examination whose key has been admitted or not.
  void end(bool admitted);

  /// Returns the number of examinations that have begun and not ended.
  std::size_t running() const { return running_; }

 private:
  double at_once_;
  double per_second_;
  double allowance_;
  std::size_t running_ = 0;
  Clock::time_point earned_ = Clock::now();
};

}  // namespace trainyard::core
