// SPDX-License-Identifier: Apache-2.0
#include "tensors/histogram.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace trainyard {
namespace {

/// Counts the values in each bucket one by one, by the definition of a bucket.
std::map<std::int64_t, std::uint64_t> counted(const at::Tensor& values, double width) {
  std::map<std::int64_t, std::uint64_t> counts;
  const at::Tensor flat = values.to(at::kDouble).reshape({-1});
  for (std::int64_t i = 0; i < flat.numel(); ++i) {
    const double value = flat[i].item<double>();
    if (std::isfinite(value)) ++counts[static_cast<std::int64_t>(std::floor(value / width))];
  }
  return counts;
}

void expect_counts(const Histogram& histogram, const at::Tensor& values) {
  EXPECT_EQ(std::ldexp(1.0, std::ilogb(histogram.width)), histogram.width) << "the width is a power of two";
  std::map<std::int64_t, std::uint64_t> found;
  for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
    if (histogram.counts[i] != 0) found[histogram.first + static_cast<std::int64_t>(i)] = histogram.counts[i];
  }
  EXPECT_EQ(found, counted(values, histogram.width));
}

TEST(HistogramTest, EveryValueIsInItsBucket) {
  for (const double scale : {1.0, 1e-3, 1e-30, 12345.0, 1e30}) {
    for (const double offset : {0.0, 3.0, -100.0}) {
      // The values are multiples of 1/256, which are exact. So a value is either exactly on the edge of a bucket, or
      // farther away from it than a rounding error.
      const at::Tensor values = ((at::randn({2000}) * 256).round() / 256 + offset).to(at::kDouble) * scale;
      const Histogram histogram = histogram_of(values);
      expect_counts(histogram, values);
      EXPECT_EQ(histogram.elements, 2000u);
      EXPECT_DOUBLE_EQ(histogram.smallest, values.min().item<double>());
      EXPECT_DOUBLE_EQ(histogram.largest, values.max().item<double>());
      EXPECT_NEAR(histogram.mean, values.mean().item<double>(), 1e-9 * scale);
      EXPECT_NEAR(histogram.deviation, values.std(/*unbiased=*/false).item<double>(), 1e-9 * scale);
      EXPECT_LE(histogram.counts.size(), Histogram::kMaxBuckets);
      EXPECT_GT(histogram.counts.size(), Histogram::kMaxBuckets / 2) << "the buckets are as narrow as possible";
    }
  }
}

TEST(HistogramTest, AFactorAppliesToEveryValue) {
  const at::Tensor values = (at::randn({500}) * 64).round();
  expect_counts(histogram_of(values, 0.25), values * 0.25);
}

TEST(HistogramTest, ATensorOfSeveralSlicesIsCountedCompletely) {
  const at::Tensor values = (at::rand({1, 3, 700'001}) * 1024).floor();
  const Histogram histogram = histogram_of(values);
  EXPECT_EQ(std::accumulate(histogram.counts.begin(), histogram.counts.end(), std::uint64_t{0}), 2'100'003u);
  EXPECT_NEAR(histogram.mean, values.to(at::kDouble).mean().item<double>(), 1e-3);
  EXPECT_NEAR(histogram.deviation, values.to(at::kDouble).std(false).item<double>(), 1e-3);
}

TEST(HistogramTest, WhatIsNotFiniteIsCountedApart) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const at::Tensor values = at::tensor({1.0f, kInfinity, kNan, -2.0f, -kInfinity});
  const Histogram histogram = histogram_of(values);
  EXPECT_EQ(histogram.not_finite, 3u);
  EXPECT_EQ(histogram.smallest, -2);
  EXPECT_EQ(histogram.largest, 1);
  expect_counts(histogram, values);
  const Histogram nothing = histogram_of(at::full({4}, kNan));
  EXPECT_EQ(nothing.not_finite, 4u);
  EXPECT_TRUE(nothing.counts.empty());
}

TEST(HistogramTest, EqualValuesAreInOneBucket) {
  for (const double value : {0.0, 1.0, -0.3, 1e-40, 3e38}) {
    const Histogram histogram = histogram_of(at::full({7}, value, at::kFloat));
    ASSERT_EQ(histogram.counts, std::vector<std::uint64_t>{7}) << value;
    EXPECT_LE(static_cast<double>(histogram.first) * histogram.width, histogram.smallest);
    EXPECT_GT(static_cast<double>(histogram.first + 1) * histogram.width, histogram.largest);
  }
}

TEST(HistogramTest, TheLargestMagnitudesOfFloatDoNotOverflow) {
  const at::Tensor values = at::tensor({-3e38f, 3e38f, 0.0f});
  const Histogram histogram = histogram_of(values);
  expect_counts(histogram, values);
  EXPECT_NEAR(histogram.deviation / 3e38, std::sqrt(2.0 / 3), 1e-6);
}

TEST(HistogramTest, ASliceWithoutFiniteValuesIsLeftOut) {
  const at::Tensor values = at::full({3 << 20}, std::numeric_limits<float>::quiet_NaN());
  values[0] = 1.0f;
  values[(3 << 20) - 1] = 2.0f;
  const Histogram histogram = histogram_of(values);
  EXPECT_EQ(histogram.elements - histogram.not_finite, 2u);
  EXPECT_EQ(histogram.mean, 1.5);
  EXPECT_EQ(std::accumulate(histogram.counts.begin(), histogram.counts.end(), std::uint64_t{0}), 2u);
}

TEST(HistogramTest, SixteenBitValuesAndOtherLayoutsAreRead) {
  const at::Tensor values = at::randn({30, 20}).to(at::kBFloat16);
  expect_counts(histogram_of(values), values);
  expect_counts(histogram_of(values.t()), values);
  expect_counts(histogram_of(values.narrow(1, 3, 7)), values.narrow(1, 3, 7));
}

TEST(HistogramTest, AnEmptyTensorHasNoBuckets) {
  const Histogram histogram = histogram_of(at::zeros({0}));
  EXPECT_EQ(histogram.elements, 0u);
  EXPECT_TRUE(histogram.counts.empty());
}

}  // namespace
}  // namespace trainyard
