// SPDX-License-Identifier: Apache-2.0
#include "collectives/rank_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace trainyard::collectives {
namespace {

using ::testing::ElementsAre;

template <class T>
std::vector<T> reduce(ReduceOp op, DType dtype, std::vector<std::vector<T>> inputs) {
  std::vector<const void*> pointers;
  for (const auto& input : inputs) pointers.push_back(input.data());
  reduce_in_order(op, dtype, pointers, inputs[1].data(), inputs[1].size());
  return inputs[1];
}

TEST(RankOrderTest, ReducesInTheOrderOfTheRanksEvenOntoAnInput) {
  // If 1 is added to 1e8, it is lost by rounding, so the result shows the order of the additions.
  EXPECT_THAT(reduce<float>(ReduceOp::kSum, DType::kFloat32, {{1e8f}, {-1e8f}, {1}}), ElementsAre(1));
  EXPECT_THAT(reduce<float>(ReduceOp::kSum, DType::kFloat32, {{1}, {1e8f}, {-1e8f}}), ElementsAre(0));
  std::vector<std::vector<double>> many(3, std::vector<double>(5000, 2));
  EXPECT_EQ(reduce(ReduceOp::kProduct, DType::kFloat64, many), std::vector<double>(5000, 8));
}

TEST(RankOrderTest, WholeNumbersWrapAroundAndTheirMeanIsCut) {
  EXPECT_THAT(reduce<std::uint8_t>(ReduceOp::kSum, DType::kUInt8, {{200, 1}, {100, 2}}), ElementsAre(44, 3));
  EXPECT_THAT(reduce<std::uint8_t>(ReduceOp::kMean, DType::kUInt8, {{200, 1}, {101, 2}}), ElementsAre(150, 1));
  EXPECT_THAT(reduce<std::int16_t>(ReduceOp::kMean, DType::kInt16, {{-3, 3}, {-2, 2}}), ElementsAre(-2, 2));
  EXPECT_THAT(reduce<std::int64_t>(ReduceOp::kMin, DType::kInt64, {{-3, 3}, {-2, 2}}), ElementsAre(-3, 2));
}

TEST(RankOrderTest, TruthValuesStayTruthValues) {
  const std::vector<std::vector<std::uint8_t>> inputs{{0, 1, 1}, {0, 0, 1}};
  EXPECT_THAT(reduce(ReduceOp::kSum, DType::kBool, inputs), ElementsAre(0, 1, 1));
  EXPECT_THAT(reduce(ReduceOp::kProduct, DType::kBool, inputs), ElementsAre(0, 0, 1));
}

TEST(RankOrderTest, HalvesAreRoundedOnce) {
  // 2048 + 1 lies halfway between two float16 numbers and is rounded to the even one, 2048; 2048 + 1 + 1 is a float16
  // number.
  EXPECT_THAT(reduce<std::uint16_t>(ReduceOp::kSum, DType::kFloat16, {{0x6800}, {0x3c00}}), ElementsAre(0x6800));
  EXPECT_THAT(reduce<std::uint16_t>(ReduceOp::kSum, DType::kFloat16, {{0x6800}, {0x3c00}, {0x3c00}}),
              ElementsAre(0x6801));
  // Twice 65504 is too large for float16 and becomes infinity; for bfloat16 the sum is 256 + 1 + 1.
  EXPECT_THAT(reduce<std::uint16_t>(ReduceOp::kSum, DType::kFloat16, {{0x7bff}, {0x7bff}}), ElementsAre(0x7c00));
  EXPECT_THAT(reduce<std::uint16_t>(ReduceOp::kSum, DType::kBFloat16, {{0x4380}, {0x3f80}, {0x3f80}}),
              ElementsAre(0x4381));
}

TEST(RankOrderTest, WhatIsNoNumberStaysSo) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const ReduceOp op : {ReduceOp::kMin, ReduceOp::kMax, ReduceOp::kMean}) {
    for (const float result : reduce<float>(op, DType::kFloat32, {{nan, 1}, {1, nan}})) EXPECT_TRUE(std::isnan(result));
  }
}

// Converting a number to the working form and back does not change it, and NaN stays NaN.
TEST(RankOrderTest, EveryHalfSurvivesTheWayThroughItsWorkingForm) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const WorkingForm form = working_form(ReduceOp::kMean, dtype, 1);
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto half = static_cast<std::uint16_t>(bits);
      float wide = 0;
      std::uint16_t back = 0;
      to_working_form(form, dtype, &half, &wide, 1);
      from_working_form(form, dtype, &wide, &back, 1);
      if (std::isnan(wide)) {
        to_working_form(form, dtype, &back, &wide, 1);
        ASSERT_TRUE(std::isnan(wide)) << bits;
      } else {
        ASSERT_EQ(back, half) << bits;
      }
    }
  }
  const std::uint16_t smallest = 1;
  float wide = 0;
  to_working_form(working_form(ReduceOp::kSum, DType::kFloat16, 2), DType::kFloat16, &smallest, &wide, 1);
  EXPECT_EQ(wide, 0x1p-24f);
}

TEST(RankOrderTest, WorkingFormsDivideAMean) {
  const WorkingForm form = working_form(ReduceOp::kMean, DType::kInt8, 4);
  EXPECT_EQ(form.dtype, DType::kInt64);
  EXPECT_EQ(form.op, ReduceOp::kSum);
  const std::int64_t sum = -399;
  std::int8_t mean = 0;
  from_working_form(form, DType::kInt8, &sum, &mean, 1);
  EXPECT_EQ(mean, -99);
  EXPECT_EQ(working_form(ReduceOp::kSum, DType::kBool, 4).op, ReduceOp::kMax);
}

}  // namespace
}  // namespace trainyard::collectives
