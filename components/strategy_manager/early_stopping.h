#pragma once

#include <cstdint>
#include <optional>

namespace trainyard::manager {

/// Watches one number from validation to validation. The rules are those of Lightning's EarlyStopping: a value counts
/// as better if it beats the best one by more than `min_delta`; so many validations without a better one, or a value
/// that is not finite, and training is to stop.
class EarlyStopping {
 public:
  /// `patience` 0: never asks to stop, but still tells what is best.
  EarlyStopping(bool larger_is_better, std::int64_t patience, double min_delta)
      : larger_is_better_(larger_is_better), patience_(patience), min_delta_(min_delta) {}

  /// Takes the next value; true if it is the best so far.
  bool update(double value);

  /// As of the last update.
  bool should_stop() const { return stop_; }
  /// Validations since the best one.
  std::int64_t waited() const { return waited_; }
  /// Nothing until a finite value came.
  std::optional<double> best() const { return best_; }

 private:
  bool better(double value) const;

  bool larger_is_better_;
  std::int64_t patience_;
  double min_delta_;
  std::optional<double> best_;
  std::int64_t waited_ = 0;  ///< Validations since the best one.
  bool stop_ = false;
};

}  // namespace trainyard::manager
