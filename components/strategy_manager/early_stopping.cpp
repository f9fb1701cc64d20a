// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/early_stopping.h"

#include <cmath>

namespace trainyard::manager {

bool EarlyStopping::better(double value) const {
  if (!std::isfinite(value)) return false;
  if (!best_) return true;
  // A value that is only as good as the best one is not better.
  return larger_is_better_ ? value - min_delta_ > *best_ : value + min_delta_ < *best_;
}

void EarlyStopping::go_on_from(std::optional<double> best, std::int64_t waited) {
  best_ = best;
  waited_ = waited;
  stop_ = patience_ > 0 && waited_ >= patience_;
}

bool EarlyStopping::update(double value) {
  if (better(value)) {
    best_ = value;
    waited_ = 0;
    return true;
  }
  ++waited_;
  // A metric that has become NaN normally stays NaN, so training stops immediately.
  stop_ = patience_ > 0 && (waited_ >= patience_ || !std::isfinite(value));
  return false;
}

}  // namespace trainyard::manager
