// SPDX-License-Identifier: Apache-2.0
#include "datasets/partition.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace trainyard {
namespace {

TEST(PartitionTest, EverySampleIsOnExactlyOneSide) {
  for (const std::uint64_t samples : {0, 1, 2, 99, 1000}) {
    for (const double fraction : {0.0, 0.1, 0.5, 1.0}) {
      for (const Partition& partition : {drawn_partition(samples, fraction, 3), tail_partition(samples, fraction)}) {
        EXPECT_EQ(partition.validate.size(), static_cast<std::uint64_t>(fraction * static_cast<double>(samples) + 0.5));
        std::vector<std::uint64_t> all = partition.train;
        all.insert(all.end(), partition.validate.begin(), partition.validate.end());
        std::ranges::sort(all);
        ASSERT_EQ(all.size(), samples);
        for (std::uint64_t i = 0; i < samples; ++i) ASSERT_EQ(all[i], i);
      }
    }
  }
}

/// Counts the drawn samples in ten equal ranges. The statistic has a chi-square distribution with 9 degrees of freedom,
/// and exceeds 27.9 with a probability of 0.1 %.
TEST(PartitionTest, DrawsAreSpreadEvenly) {
  std::vector<double> counts(10);
  for (const std::uint64_t sample : drawn_partition(100'000, 0.1, 1).validate) ++counts[sample / 10'000];
  double chi_square = 0;
  for (const double count : counts) chi_square += (count - 1000) * (count - 1000) / 1000;
  EXPECT_LT(chi_square, 27.9);
}

TEST(PartitionTest, TheTailIsTheLastSamples) {
  EXPECT_EQ(tail_partition(10, 0.25).validate, (std::vector<std::uint64_t>{7, 8, 9}));  // 2.5 is rounded up.
}

}  // namespace
}  // namespace trainyard
