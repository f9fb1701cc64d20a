// SPDX-License-Identifier: Apache-2.0
#include "transforms/random_flip/random_flip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datasets/testing/dataset_testing.h"
#include "transforms/testing/transform_testing.h"

namespace trainyard {
namespace {

using testing::counting;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::Prepared;

TEST(RandomFlipTest, HorizontalMirrorsEveryRowOfEveryChannel) {
  const Prepared<RandomFlip> flip(R"({"probability": 1})", DType::kUInt8, {2, 2, 3});
  EXPECT_THAT(flip.apply<std::uint8_t>(counting<std::uint8_t>(12), 1),
              ElementsAre(2, 1, 0, 5, 4, 3, 8, 7, 6, 11, 10, 9));
}

TEST(RandomFlipTest, VerticalMirrorsTheRows) {
  const Prepared<RandomFlip> flip(R"({"probability": 1, "direction": "vertical"})", DType::kInt64, {2, 3, 1});
  EXPECT_THAT(flip.apply<std::int64_t>(counting<std::int64_t>(6), 1), ElementsAre(2, 1, 0, 5, 4, 3));
}

TEST(RandomFlipTest, ElementsOfEverySizeStayWhole) {
  const auto mirrored = [](auto zero, DType dtype) {
    using Element = decltype(zero);
    const Prepared<RandomFlip> flip(R"({"probability": 1})", dtype, {1, 3});
    return flip.apply<Element>(std::vector<Element>{1, 2, 3}, 1) == std::vector<Element>{3, 2, 1};
  };
  EXPECT_TRUE(mirrored(std::int16_t{}, DType::kInt16));
  EXPECT_TRUE(mirrored(float{}, DType::kFloat32));
  EXPECT_TRUE(mirrored(double{}, DType::kFloat64));
}

TEST(RandomFlipTest, InEvaluationNothingIsMirrored) {
  const Prepared<RandomFlip> flip(R"({"probability": 1})", DType::kUInt8, {2, 2});
  EXPECT_THAT(flip.apply<std::uint8_t>(counting<std::uint8_t>(4)), ElementsAre(0, 1, 2, 3));
}

/// Of 10,000 images, 3000 should be mirrored, with a standard deviation of 46.
TEST(RandomFlipTest, AboutTheGivenShareIsMirrored) {
  const Prepared<RandomFlip> flip(R"({"probability": 0.3})", DType::kUInt8, {1, 2});
  int mirrored = 0;
  for (std::uint64_t key = 0; key < 10'000; ++key) {
    mirrored += flip.apply<std::uint8_t>(counting<std::uint8_t>(2), random_bits(key, 7))[0];
  }
  EXPECT_NEAR(mirrored, 3000, 200);
}

TEST(RandomFlipTest, WhatIsNoImageIsRefused) {
  EXPECT_THAT(error_of([] { Prepared<RandomFlip> flip("{}", DType::kInt64, {}); }).second,
              HasSubstr("is int64 []; allowed: images"));
}

}  // namespace
}  // namespace trainyard
