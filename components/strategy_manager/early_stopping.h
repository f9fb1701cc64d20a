// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace trainyard::manager {

/// Decides after every validation whether training should stop because a metric no longer improves, by the rule of
/// Lightning's EarlyStopping. A value counts as better if it is better than the best value by more than `min_delta`.
/// Training should stop after `patience` validations without a better value, or if a value is not finite.
class EarlyStopping {
 public:
  /// `larger_is_better` is true if an improvement is an increase of the value. For `patience` and `min_delta`, see the
  /// comment of the class. If `patience` is 0, should_stop() is never true, but the best value is still recorded.
  EarlyStopping(bool larger_is_better, std::int64_t patience, double min_delta)
      : larger_is_better_(larger_is_better), patience_(patience), min_delta_(min_delta) {}

  /// Records the value of the next validation. Returns true if it counts as better than the best value so far.
  bool update(double value);

  /// Continues from the state in a checkpoint, which contains the results of best() and waited().
  void go_on_from(std::optional<double> best, std::int64_t waited);

  /// Returns true if training should stop, judging by the values recorded so far.
  bool should_stop() const { return stop_; }
  /// Returns the number of validations since the best value.
  std::int64_t waited() const { return waited_; }
  /// Returns the best value, or nothing if no finite value has been recorded.
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
