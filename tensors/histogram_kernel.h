// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "messages/histogram.h"

namespace trainyard {

/// The counts of buckets, and the sums from which the mean and the deviation are computed.
struct BucketSums {
  double distances = 0;  ///< The sum of the distances from a centre.
  double squares = 0;    ///< The sum of their squares.
  std::uint64_t counts[Histogram::kMaxBuckets] = {};
};

/// Equally wide buckets, and the centre from which distances are measured.
struct BucketGrid {
  double low = 0;    ///< Where the first bucket begins.
  double width = 1;  ///< A power of two.
  double centre = 0;
};

/// Adds values in host memory, which are finite, to `sums`. A value outside of the buckets counts in the nearest one.
/// One pass, several times faster than the operations of LibTorch that do the same.
void add_to_buckets(std::span<const float> values, const BucketGrid& grid, BucketSums& sums);

}  // namespace trainyard
