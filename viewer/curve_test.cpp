// SPDX-License-Identifier: Apache-2.0
#include "viewer/curve.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <random>

namespace trainyard::viewer {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Metrics row(std::uint64_t step, double loss, std::int64_t time_us = -1) {
  Metrics metrics{.step = step, .stage = "train"};
  metrics.time_ns = (time_us < 0 ? static_cast<std::int64_t>(step) * 1000 : time_us) * 1000;
  metrics.samples = step * 32;
  metrics.values = {{"loss", loss}};
  return metrics;
}

const Column& loss(const Columns& columns) { return *columns.find("loss"); }

TEST(ColumnsTest, TheSameRowFromTwoSourcesIsAddedOnce) {
  Columns columns;
  EXPECT_TRUE(columns.add(row(1, 5)));
  EXPECT_TRUE(columns.add(row(2, 4)));
  EXPECT_FALSE(columns.add(row(2, 4)));
  EXPECT_FALSE(columns.add(row(1, 5)));
  // The time in a message is in nanoseconds, but the time in the file is in microseconds.
  Metrics exact = row(2, 4);
  exact.time_ns += 999;
  EXPECT_FALSE(columns.add(exact));
  EXPECT_EQ(columns.rows(), 2u);
}

TEST(ColumnsTest, ARowThatComesLateIsPutInItsPlace) {
  Columns columns;
  for (const std::uint64_t step : {1, 2, 5, 3, 6, 4}) EXPECT_TRUE(columns.add(row(step, static_cast<double>(step))));
  EXPECT_THAT(columns.steps(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(loss(columns).values, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_TRUE(columns.steps_ascend());
}

TEST(ColumnsTest, DistinguishesAValueThatIsNotReportedFromOneThatIsNotANumber) {
  Columns columns;
  columns.add(row(1, kNan));
  Metrics other = row(2, 0);
  other.values = {{"accuracy", 0.5}};
  columns.add(other);
  EXPECT_FALSE(is_absent(loss(columns).values[0]));
  EXPECT_TRUE(is_absent(loss(columns).values[1]));
  EXPECT_TRUE(is_absent(columns.find("accuracy")->values[0]));
  EXPECT_EQ(loss(columns).present, 1u);
  const Curve curve = curve_of(columns, loss(columns), {});
  EXPECT_EQ(curve.rows, 1u);
  EXPECT_TRUE(std::isnan(curve.mean.at(0)));
}

TEST(ColumnsTest, NamesOfStrangersAreBounded) {
  Columns columns;
  Metrics metrics = row(1, 1);
  for (int i = 0; i < 10'000; ++i) metrics.values.push_back({"name" + std::to_string(i), 1});
  columns.add(metrics);
  EXPECT_EQ(columns.metrics().size(), Columns::kMaxMetrics);
}

TEST(CurveTest, GivesEveryRowWhereThereIsRoom) {
  Columns columns;
  for (std::uint64_t step = 10; step <= 50; step += 10) columns.add(row(step, 100.0 / static_cast<double>(step)));
  const Curve curve = curve_of(columns, loss(columns), {.points = 100});
  EXPECT_THAT(curve.x, ElementsAre(10, 20, 30, 40, 50));
  EXPECT_THAT(curve.mean, ElementsAre(10, 5, 100.0 / 30, 2.5, 2));
  EXPECT_EQ(curve.low, curve.mean);
  EXPECT_EQ(curve.high, curve.mean);
  EXPECT_EQ(curve.smooth, curve.mean) << "without smoothing";
  EXPECT_EQ(curve.rows, 5u);
  EXPECT_EQ(curve.from, 10);
  EXPECT_EQ(curve.to, 50);
}

TEST(CurveTest, CountsTimeFromTheStartAndSamplesAsTheyAre) {
  Columns columns;
  columns.add(row(1, 3, 2'000'000));
  columns.add(row(2, 2, 3'500'000));
  EXPECT_THAT(curve_of(columns, loss(columns), {.axis = Axis::kTime, .zero_time = 2}).x, ElementsAre(0, 1.5));
  EXPECT_THAT(curve_of(columns, loss(columns), {.axis = Axis::kSamples}).x, ElementsAre(32, 64));
}

/// The test compares each bucket with the result of a search through all rows.
TEST(CurveTest, HasTheMinimumMaximumAndMeanOfEachBucket) {
  Columns columns;
  std::mt19937 random(7);
  std::normal_distribution<double> noise;
  for (std::uint64_t step = 1; step <= 5000; ++step) columns.add(row(step, noise(random)));
  const double from = 1001, to = 4000;
  const Curve curve = curve_of(columns, loss(columns), {.from = from, .to = to, .points = 37});
  ASSERT_EQ(curve.x.size(), 37u);
  EXPECT_EQ(curve.rows, 3000u);
  double left = from - 1;
  std::size_t rows = 0;
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    double low = 1e9, high = -1e9, sum = 0;
    std::size_t count = 0;
    for (std::size_t row = 0; row < columns.rows(); ++row) {
      if (columns.steps()[row] <= left || columns.steps()[row] > curve.x[i]) continue;
      low = std::min(low, loss(columns).values[row]);
      high = std::max(high, loss(columns).values[row]);
      sum += loss(columns).values[row];
      ++count;
    }
    EXPECT_EQ(curve.low[i], low);
    EXPECT_EQ(curve.high[i], high);
    EXPECT_NEAR(curve.mean[i], sum / static_cast<double>(count), 1e-12);
    EXPECT_NEAR(static_cast<double>(count), 3000.0 / 37, 2);
    left = curve.x[i];
    rows += count;
  }
  EXPECT_EQ(rows, 3000u) << "no row is left out or counted twice";
}

TEST(CurveTest, TheMeanOfEqualValuesIsThatValue) {
  Columns columns;
  for (std::uint64_t step = 1; step <= 100; ++step) columns.add(row(step, 0.001));
  for (std::size_t points = 1; points <= 10; ++points) {
    const Curve curve = curve_of(columns, loss(columns), {.points = points});
    EXPECT_THAT(curve.mean, Each(0.001)) << points;
  }
}

TEST(CurveTest, SmoothsFromTheFirstRowWhateverTheWindow) {
  Columns columns;
  for (std::uint64_t step = 1; step <= 100; ++step) columns.add(row(step, step % 7 == 0 ? kNan : step % 5));
  // This is the definition: the weight of each value is `smooth` times the weight of the next value.
  const auto expected = [&](std::size_t rows, double smooth) {
    double sum = 0, weights = 0, weight = 1;
    for (std::size_t i = rows; i-- > 0;) {
      if (!std::isfinite(loss(columns).values[i])) continue;
      sum += weight * loss(columns).values[i];
      weights += weight;
      weight *= smooth;
    }
    return sum / weights;
  };
  for (const double from : {0.0, 60.0}) {
    const Curve curve = curve_of(columns, loss(columns), {.from = from, .smooth = 0.9});
    EXPECT_NEAR(curve.smooth.back(), expected(100, 0.9), 1e-9);
    EXPECT_EQ(curve.to, 100);
  }
}

TEST(CurveTest, DrawsARunThatWasStartedAgainInTheOrderOfItsRows) {
  Columns columns;
  for (std::uint64_t i = 0; i < 10; ++i) columns.add(row(i, 1, static_cast<std::int64_t>(i)));
  for (std::uint64_t i = 0; i < 10; ++i) columns.add(row(i, 2, 100 + static_cast<std::int64_t>(i)));
  EXPECT_FALSE(columns.steps_ascend());
  const Curve curve = curve_of(columns, loss(columns), {.from = 5, .points = 100});
  EXPECT_THAT(curve.x, ElementsAre(5, 6, 7, 8, 9, 5, 6, 7, 8, 9));
  EXPECT_LE(curve_of(columns, loss(columns), {.points = 4}).x.size(), 4u);
}

TEST(CurveTest, OfNothingIsEmpty) {
  Columns columns;
  columns.add(row(1, 1));
  EXPECT_TRUE(curve_of(columns, loss(columns), {.from = 2}).x.empty());
  EXPECT_TRUE(curve_of(columns, loss(columns), {.from = 2, .to = -2}).x.empty());
  EXPECT_THAT(curve_of(columns, loss(columns), {.points = 1}).x, ElementsAre(1));
}

}  // namespace
}  // namespace trainyard::viewer
