// SPDX-License-Identifier: Apache-2.0
#include "core/random/random.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

namespace trainyard {
namespace {

TEST(RandomTest, BitsAreThoseOfSplitMix64) {
  // These are the first two numbers of the published generator with the seed 1234567.
  EXPECT_EQ(random_bits(0, 1234567), 6457827717110365317u);
  EXPECT_EQ(random_bits(1, 1234567), 3203168211198807973u);
}

TEST(RandomTest, KeysDifferByEveryPartOfTheirName) {
  EXPECT_NE(random_key(1, "a"), random_key(2, "a"));
  EXPECT_NE(random_key(1, "a"), random_key(1, "b"));
  EXPECT_NE(random_key(1, "ab"), random_key(1, "ba"));
  EXPECT_NE(random_key(1, "a", 0), random_key(1, "a", 1));
}

TEST(RandomTest, BelowIsUniform) {
  std::vector<int> counts(10);
  for (std::uint64_t i = 0; i < 100'000; ++i) ++counts.at(random_below(random_bits(i, 7), 10));
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
}

TEST(RandomTest, UnitLiesInsideItsInterval) {
  EXPECT_GT(random_unit(0), 0);
  EXPECT_LT(random_unit(~0ull), 1);
}

}  // namespace
}  // namespace trainyard
