// SPDX-License-Identifier: Apache-2.0
#include "components/logger/validation_tables.h"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

/// Returns the message of one of two ranks, with a single class of which it has counted `count` samples.
Confusion of(std::uint32_t rank, std::uint64_t step, const std::string& split, std::uint64_t count) {
  return {.rank = rank, .ranks = 2, .step = step, .split = split, .classes = {"cat"}, .counts = {count}};
}

TEST(ConfusionSumTest, EvaluationsMayArriveInterleaved) {
  ConfusionSum sum;
  EXPECT_FALSE(sum.add(of(0, 7, "validate", 1)));
  EXPECT_FALSE(sum.add(of(0, 7, "test", 10)));
  EXPECT_FALSE(sum.add(of(0, 8, "validate", 100)));
  const auto validate = sum.add(of(1, 7, "validate", 2));
  ASSERT_TRUE(validate);
  EXPECT_EQ(validate->split, "validate");
  EXPECT_EQ(validate->step, 7u);
  EXPECT_EQ(validate->counts.at(0), 3u);
  const auto test = sum.add(of(1, 7, "test", 20));
  ASSERT_TRUE(test);
  EXPECT_EQ(test->counts.at(0), 30u);
  const auto later = sum.add(of(1, 8, "validate", 200));
  ASSERT_TRUE(later);
  EXPECT_EQ(later->counts.at(0), 300u);
}

TEST(ConfusionSumTest, ASecondEvaluationOfAStepIsASumOfItsOwn) {
  ConfusionSum sum;
  EXPECT_FALSE(sum.add(of(0, 0, "validate", 1)));  // As with a sanity check and a validation before the first step.
  EXPECT_FALSE(sum.add(of(0, 0, "validate", 10)));
  EXPECT_EQ(sum.add(of(1, 0, "validate", 2))->counts.at(0), 3u);
  EXPECT_EQ(sum.add(of(1, 0, "validate", 20))->counts.at(0), 30u);
}

TEST(ConfusionSumTest, SumsThatStayIncompleteAreDiscardedInTheEnd) {
  ConfusionSum sum;
  for (std::uint64_t step = 0; step <= 16; ++step) EXPECT_FALSE(sum.add(of(0, step, "validate", 1)));
  EXPECT_FALSE(sum.add(of(1, 0, "validate", 1))) << "the sum of step 0 was the oldest";
  EXPECT_TRUE(sum.add(of(1, 16, "validate", 1)));
}

}  // namespace
}  // namespace trainyard
