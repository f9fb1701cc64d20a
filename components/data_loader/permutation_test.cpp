// SPDX-License-Identifier: Apache-2.0
#include "components/data_loader/permutation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace trainyard {
namespace {

TEST(PermutationTest, EveryNumberComesExactlyOnce) {
  for (const std::uint64_t size : {1ull, 2ull, 3ull, 4ull, 5ull, 31ull, 32ull, 33ull, 1000ull, 65537ull}) {
    for (std::uint64_t key = 0; key < 5; ++key) {
      const Permutation shuffled(size, key);
      std::vector<bool> seen(size);
      for (std::uint64_t place = 0; place < size; ++place) {
        const std::uint64_t number = shuffled(place);
        ASSERT_LT(number, size);
        ASSERT_FALSE(seen[number]) << number << " twice in " << size;
        seen[number] = true;
      }
    }
  }
}

TEST(PermutationTest, EveryNumberIsAsLikelyAtEveryPlace) {
  constexpr std::uint64_t kSize = 10;
  constexpr int kKeys = 20'000;
  std::vector<std::vector<int>> counts(kSize, std::vector<int>(kSize));
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    const Permutation shuffled(kSize, key);
    for (std::uint64_t place = 0; place < kSize; ++place) ++counts[place][shuffled(place)];
  }
  for (const auto& row : counts) {
    // The standard deviation of a uniform count is about 42.
    for (const int count : row) EXPECT_NEAR(count, kKeys / 10, 220);
  }
}

TEST(PermutationTest, NeighboursAreNotCorrelated) {
  constexpr std::uint64_t kSize = 100'000;
  const Permutation shuffled(kSize, 7);
  const double mean = (kSize - 1) / 2.0;
  double product = 0;
  double square = 0;
  for (std::uint64_t place = 0; place + 1 < kSize; ++place) {
    const double here = static_cast<double>(shuffled(place)) - mean;
    product += here * (static_cast<double>(shuffled(place + 1)) - mean);
    square += here * here;
  }
  EXPECT_LT(std::abs(product / square), 0.015);  // Almost five standard deviations.
}

TEST(PermutationTest, WorksOnSizesThatNoListCouldHold) {
  const std::uint64_t size = (1ull << 62) + 12345;
  const Permutation shuffled(size, 3);
  for (std::uint64_t place = 0; place < 1000; ++place) EXPECT_LT(shuffled(place), size);
  EXPECT_NE(shuffled(0), shuffled(1));
}

}  // namespace
}  // namespace trainyard
