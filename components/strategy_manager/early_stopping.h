// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace trainyard::manager {

/// The rule that stops training early, based on one metric of the validations. It is the same as in Lightning's
/// EarlyStopping: a value counts as better if it beats the best one by more than `min_delta`. Training should stop
/// after `patience` validations without a better value, or at a value that is not finite.
class EarlyStopping {
 public:
  /// With a `patience` of 0, should_stop() is never true, but the best value is still tracked.
  EarlyStopping(bool larger_is_better, std::int64_t patience, double min_delta)
      : larger_is_better_(larger_is_better), patience_(patience), min_delta_(min_delta) {}

  /// Records the next value. Returns true if it is the best value up to now.
  bool update(double value);

  /// Restores the best value and the number of validations since then.
  void go_on_from(std::optional<double> best, std::int64_t waited);

  /// Returns true if training should stop according to the last value.
  bool should_stop() const { return stop_; }
  /// Returns the number of validations since the best value.
  std::int64_t waited() const { return waited_; }
  /// Returns the best value, or nothing until a finite value has been recorded.
  std::optional<double> best() const { return best_; }

 private:
  bool better(double value) const;

  bool larger_is_better_;
  std::int64_t patience_;
  double min_delta_;
  std::optional<double> best_;
  std::int64_t waited_ = 0;  ///< The number of validations since the best value.
  bool stop_ = false;
};

}  // namespace trainyard::manager
