// SPDX-License-Identifier: Apache-2.0
#include "components/logger/rate_meter.h"

#include <cmath>

namespace trainyard {

void RateMeter::add(std::int64_t time_ns, std::uint64_t count) {
  // The run has been resumed, or the clock has been set back.
  if (started_ && (time_ns < last_time_ns_ || count < last_count_)) *this = {};
  if (started_) {
    const double seconds = static_cast<double>(time_ns - last_time_ns_) * 1e-9;
    // Both sums fade by the same factor, so their quotient is a weighted mean, from the second value on.
    const double fade = std::exp(-seconds / kMemorySeconds);
    counted_ = counted_ * fade + static_cast<double>(count - last_count_);
    seconds_ = seconds_ * fade + seconds;
  }
  started_ = true;
  last_time_ns_ = time_ns;
  last_count_ = count;
}

std::optional<double> RateMeter::per_second() const {
  if (seconds_ <= 0) return {};
  return counted_ / seconds_;
}

}  // namespace trainyard
