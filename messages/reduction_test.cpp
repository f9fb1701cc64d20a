// SPDX-License-Identifier: Apache-2.0
#include "messages/reduction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "messages/error.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double merged(const std::vector<std::pair<double, double>>& values_and_weights, Reduction reduction) {
  ScalarMerger merger;
  for (const auto& [value, weight] : values_and_weights) merger.add("x", value, weight, reduction);
  return merger.values().at(0).value;
}

TEST(ReductionTest, NamesComeBack) {
  for (const Reduction each : {Reduction::kMean, Reduction::kSum, Reduction::kMax, Reduction::kMin}) {
    EXPECT_EQ(from_name<Reduction>(name_of(each)), each);
  }
  EXPECT_THAT(
      [] { from_name<Reduction>("median"); },
      ThrowsMessage<Error>("unknown way of merging values 'median'; did you mean 'mean'? known: max, mean, min, sum"));
}

TEST(ReductionTest, OnlyMeansLookAtWeights) {
  const std::vector<std::pair<double, double>> given{{4, 1}, {-2, 3}, {1, 0}};
  EXPECT_EQ(merged(given, Reduction::kMean), -0.5);
  EXPECT_EQ(merged(given, Reduction::kSum), 3);
  EXPECT_EQ(merged(given, Reduction::kMax), 4);
  EXPECT_EQ(merged(given, Reduction::kMin), -2);
}

TEST(ReductionTest, WhatWeighsNothingCountsOnlyAmongItsLike) {
  EXPECT_EQ(merged({{kNan, 0}, {2, 4}, {4, 4}}, Reduction::kMean), 3);
  EXPECT_EQ(merged({{1, 0}, {2, 0}}, Reduction::kMean), 1.5);
}

TEST(ReductionTest, EqualValuesAreNotRounded) {
  EXPECT_EQ(merged({{0.1, 3}, {0.1, 7}, {0.1, 11}}, Reduction::kMean), 0.1);
}

TEST(ReductionTest, WhatIsNoNumberIsNotHidden) {
  for (const Reduction each : {Reduction::kMean, Reduction::kSum, Reduction::kMax, Reduction::kMin}) {
    EXPECT_TRUE(std::isnan(merged({{kNan, 1}, {2, 1}}, each))) << name_of(each);
    EXPECT_TRUE(std::isnan(merged({{2, 1}, {kNan, 1}}, each))) << name_of(each);
  }
}

TEST(ReductionTest, NamesAreMergedOverThoseWhoHaveThem) {
  ScalarMerger merger;
  EXPECT_TRUE(merger.empty());
  merger.add({{"loss", 1}, {"worst", 7}}, 3, {{"worst", Reduction::kMax}});
  merger.add({{"new", 5}, {"worst", 9}, {"loss", 5}}, 1, {{"worst", Reduction::kMax}});
  const std::vector<Scalar> values = merger.values();
  ASSERT_EQ(values.size(), 3u);
  EXPECT_EQ(values[0].name, "loss");
  EXPECT_EQ(values[0].value, 2);
  EXPECT_EQ(values[1].value, 9);
  EXPECT_EQ(values[2].name, "new");
  EXPECT_EQ(values[2].value, 5);
  EXPECT_EQ(merger.reductions(), (Reductions{{"worst", Reduction::kMax}}));
}

}  // namespace
}  // namespace trainyard
