// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>

namespace trainyard::core {

/// Limits how often keys of strangers (clients that have not been admitted yet) are examined. A stranger is admitted if
/// its key passes the examination. Only examinations that are running or have failed count, so any number of strangers
/// can be admitted in a short time.
class ExaminationLimit {
 public:
  using Clock = std::chrono::steady_clock;

  /// `at_once` is the maximum number of examinations that run at the same time. It is also the maximum number that can
  /// fail in quick succession; after that, `per_second` examinations can fail per second.
  ExaminationLimit(double at_once, double per_second)
      : at_once_(at_once), per_second_(per_second), allowance_(at_once) {}

  /// Allows further examinations, in proportion to the time that has passed since the last call. `now` is the current
  /// time. Call this regularly.
  void earn(Clock::time_point now);
  /// Returns true if another examination may begin.
  bool may_begin() const { return allowance_ >= 1; }
  /// Records that an examination has begun. Call this only if may_begin() has returned true.
  void begin();
  /// Records that an examination has ended. `admitted` is true if the key was admitted.
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
