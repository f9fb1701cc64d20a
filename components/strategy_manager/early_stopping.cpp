// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/early_stopping.h"

#include <cmath>

namespace trainyard::manager {

bool EarlyStopping::better(double value) const {
  if (!std::isfinite(value)) return false;
  if (!best_) return true;
  // The comparison is strict: a value that only equals the best is not better.
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
  // Not-a-number never becomes a number again, so waiting until the patience ends would only waste time.
  stop_ = patience_ > 0 && (waited_ >= patience_ || !std::isfinite(value));
  return false;
}

}  // namespace trainyard::manager
