// SPDX-License-Identifier: Apache-2.0
#include "tensors/histogram_kernel.h"

#include <algorithm>

namespace trainyard {

// Neighbouring values are often in the same bucket. Each of four neighbours therefore has its own table and sums, so
// that the processor need not wait for one addition before it begins the next.
void add_to_buckets(std::span<const float> values, const BucketGrid& grid, BucketSums& sums) {
  constexpr std::size_t kLanes = 4;
  constexpr int kLast = static_cast<int>(Histogram::kMaxBuckets) - 1;
  BucketSums lanes[kLanes];
  const auto low = static_cast<float>(grid.low), scale = static_cast<float>(1 / grid.width);
  const auto add = [&](float value, BucketSums& lane) {
    const int bucket = static_cast<int>((value - low) * scale);
    ++lane.counts[std::clamp(bucket, 0, kLast)];
    const double distance = static_cast<double>(value) - grid.centre;
    lane.distances += distance;
    lane.squares += distance * distance;
  };
  const std::size_t whole = values.size() / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) add(values[i + lane], lanes[lane]);
  }
  for (std::size_t i = whole; i < values.size(); ++i) add(values[i], lanes[0]);
  for (const BucketSums& lane : lanes) {
    sums.distances += lane.distances;
    sums.squares += lane.squares;
    for (std::size_t i = 0; i < Histogram::kMaxBuckets; ++i) sums.counts[i] += lane.counts[i];
  }
}

}  // namespace trainyard
