// SPDX-License-Identifier: Apache-2.0
#include "strategies/shards.h"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

using Bounds = std::vector<std::uint64_t>;

TEST(ShardBoundsTest, PartsAreAlignedAndDifferByOneUnitAtMost) {
  EXPECT_EQ(shard_bounds(640, 4), (Bounds{0, 128, 320, 448, 640}));
  EXPECT_EQ(shard_bounds(640, 1), (Bounds{0, 640}));
}

TEST(ShardBoundsTest, SomeRanksHaveNothingWhereThereIsLessThanAUnitForEach) {
  EXPECT_EQ(shard_bounds(128, 4), (Bounds{0, 0, 64, 64, 128}));
}

TEST(BoundsWithinTest, PartsOfARunAreCountedInItsElements) {
  const Bounds bounds{0, 128, 320, 448, 640};
  EXPECT_EQ(bounds_within(bounds, 0, 640, 4), (Bounds{0, 32, 80, 112, 160}));
  EXPECT_EQ(bounds_within(bounds, 192, 192, 8), (Bounds{0, 0, 16, 24, 24}));
}

TEST(HoldingsTest, SayInOneLineWhatARankHolds) {
  const Holdings holdings{
      .parameters = 64, .gradients = 128, .peak_parameters = 64, .peak_gradients = 192, .whole_parameters = 512};
  EXPECT_EQ(holdings.text(3), "rank 3 holds 64 of 512 parameter bytes, 128 of 512 gradient bytes (at most 192)");
  EXPECT_EQ(holdings.scalars().at(1).name, "gradient_bytes");
}

}  // namespace
}  // namespace trainyard
