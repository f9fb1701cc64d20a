// SPDX-License-Identifier: Apache-2.0
#include "components/logger/rate_meter.h"

#include <gtest/gtest.h>

#include <cmath>

namespace trainyard {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(RateMeterTest, GivesTheRateOfASteadyCount) {
  RateMeter meter;
  EXPECT_FALSE(meter.per_second());
  for (int i = 0; i < 100; ++i) meter.add(i * kSecond, static_cast<std::uint64_t>(i) * 40);
  EXPECT_NEAR(*meter.per_second(), 40, 1e-9);
}

TEST(RateMeterTest, ForgetsAnOldRate) {
  RateMeter meter;
  std::uint64_t count = 0;
  for (int i = 0; i < 10; ++i) meter.add(i * kSecond, count += 1000);
  for (int i = 10; i < 60; ++i) meter.add(i * kSecond, count += 10);
  EXPECT_NEAR(*meter.per_second(), 10, 1);
}

TEST(RateMeterTest, StartsAnewWhenTheCountGoesBack) {
  RateMeter meter;
  meter.add(0, 100);
  meter.add(kSecond, 200);
  meter.add(2 * kSecond, 0);
  EXPECT_FALSE(meter.per_second());
  meter.add(3 * kSecond, 5);
  EXPECT_NEAR(*meter.per_second(), 5, 1e-9);
}

TEST(RateMeterTest, UnevenReportsOfASteadyCountGiveItsRate) {
  RateMeter meter;
  std::int64_t time = 0;
  for (int i = 0; i < 50; ++i) {
    time += (i % 7 + 1) * kSecond / 10;
    meter.add(time, static_cast<std::uint64_t>(time / (kSecond / 1000)));  // 1000 per second.
  }
  EXPECT_NEAR(*meter.per_second(), 1000, 1e-6);
}

TEST(RateMeterTest, APauseCountsAsSlowTime) {
  RateMeter meter;
  for (int i = 0; i <= 5; ++i) meter.add(i * kSecond, static_cast<std::uint64_t>(i) * 100);
  meter.add(15 * kSecond, 600);  // Includes a pause of nine seconds, such as a validation.
  EXPECT_LT(*meter.per_second(), 30);
}

TEST(RateMeterTest, TwoReportsAtOneTimeAreNoDivisionByZero) {
  RateMeter meter;
  meter.add(kSecond, 10);
  meter.add(kSecond, 20);
  EXPECT_FALSE(meter.per_second());
  meter.add(2 * kSecond, 20);
  EXPECT_TRUE(std::isfinite(*meter.per_second()));
}

TEST(RateMeterTest, StartsAnewWhenTheClockGoesBack) {
  RateMeter meter;
  meter.add(10 * kSecond, 100);
  meter.add(11 * kSecond, 200);
  meter.add(5 * kSecond, 300);
  EXPECT_FALSE(meter.per_second());
}

}  // namespace
}  // namespace trainyard
