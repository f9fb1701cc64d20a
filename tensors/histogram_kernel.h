// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "messages/histogram.h"

namespace trainyard {

/// The totals that add_to_buckets() accumulates: the number of values in each bucket of a histogram, and the sums from
/// which the mean and the standard deviation are computed.
struct BucketSums {
  double distances = 0;  ///< The sum of value - centre.
  double squares = 0;    ///< The sum of (value - centre)^2.
  std::uint64_t counts[Histogram::kMaxBuckets] = {};
};

/// The buckets of a histogram, which all have the same width, and the centre from which distances are measured.
struct BucketGrid {
  double low = 0;    ///< Where the first bucket begins.
  double width = 1;  ///< The width of every bucket; a power of two.
  double centre = 0;
};

/// Adds `values`, which must be finite, to `sums`. A value below the first bucket is counted in the first bucket, and a
/// value above the last bucket in the last. The function makes a single pass over the values, and is several times
/// faster than the equivalent LibTorch operations.
void add_to_buckets(std::span<const float> values, const BucketGrid& grid, BucketSums& sums);

}  // namespace trainyard
