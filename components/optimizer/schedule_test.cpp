// SPDX-License-Identifier: Apache-2.0
#include "components/optimizer/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "messages/error.h"

namespace trainyard::optimizer {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// Computes the learning rate in the same way as get_lr in nanoGPT's train.py (https://github.com/karpathy/nanoGPT).
double nano_gpt(double lr, double min_lr, int warmup, int decay_steps, int it) {
  if (it < warmup) return lr * (it + 1) / (warmup + 1);
  if (it > decay_steps) return min_lr;
  const double ratio = double(it - warmup) / (decay_steps - warmup);
  return min_lr + 0.5 * (1.0 + std::cos(std::numbers::pi * ratio)) * (lr - min_lr);
}

TEST(ScheduleTest, CosineWithWarmupIsThatOfNanoGpt) {
  const ScheduleSettings settings{
      .kind = ScheduleKind::kCosine, .warmup_steps = 100, .min_lr = 1e-4, .total_steps = 2000};
  for (int it = 0; it < 2100; ++it) {
    EXPECT_NEAR(learning_rate(settings, 1e-3, it, 0), nano_gpt(1e-3, 1e-4, 100, 2000, it), 1e-15) << it;
  }
}

TEST(ScheduleTest, TheRunsOwnLengthIsUsedWhenNoneIsGiven) {
  const ScheduleSettings given{.kind = ScheduleKind::kLinear, .min_lr = 0.1, .total_steps = 50};
  const ScheduleSettings open{.kind = ScheduleKind::kLinear, .min_lr = 0.1};
  for (int it = 0; it < 60; ++it) EXPECT_EQ(learning_rate(given, 1, it, 999), learning_rate(open, 1, it, 50)) << it;
}

TEST(ScheduleTest, LinearReachesItsEndAfterTheLastStepAndStaysThere) {
  const ScheduleSettings settings{.kind = ScheduleKind::kLinear, .warmup_steps = 3, .min_lr = 0.2, .total_steps = 11};
  EXPECT_DOUBLE_EQ(learning_rate(settings, 1, 0, 0), 0.25);
  EXPECT_DOUBLE_EQ(learning_rate(settings, 1, 2, 0), 0.75);
  EXPECT_DOUBLE_EQ(learning_rate(settings, 1, 3, 0), 1);
  EXPECT_DOUBLE_EQ(learning_rate(settings, 1, 7, 0), 0.6);
  EXPECT_DOUBLE_EQ(learning_rate(settings, 1, 11, 0), 0.2);
  EXPECT_DOUBLE_EQ(learning_rate(settings, 1, 5000, 0), 0.2);
}

TEST(ScheduleTest, StepDropsAfterItsWarmupAndNeverBelowTheFloor) {
  const ScheduleSettings settings{
      .kind = ScheduleKind::kStep, .warmup_steps = 1, .min_lr = 0.3, .step_size = 2, .gamma = 0.5, .total_steps = 0};
  const double wanted[] = {0.5, 1, 1, 0.5, 0.5, 0.3, 0.3, 0.3};
  for (int it = 0; it < 8; ++it) EXPECT_DOUBLE_EQ(learning_rate(settings, 1, it, 0), wanted[it]) << it;
}

TEST(ScheduleTest, OneCycleOutlivesItsEndAndARiseOfNoLength) {
  ScheduleSettings settings{.kind = ScheduleKind::kOneCycle, .total_steps = 10};
  const double end = 1.0 / 25 / 1e4;
  EXPECT_DOUBLE_EQ(learning_rate(settings, 1, 9, 0), end);
  EXPECT_DOUBLE_EQ(learning_rate(settings, 1, 50, 0), end);
  EXPECT_DOUBLE_EQ(*momentum(settings, 50, 0), 0.95);
  settings.pct_start = 0.1;  // The first phase is one step of ten, so the first step is already the peak.
  EXPECT_DOUBLE_EQ(learning_rate(settings, 1, 0, 0), 1);
  settings.total_steps = 1;
  EXPECT_TRUE(std::isfinite(learning_rate(settings, 1, 0, 0)));
}

TEST(ScheduleTest, OnlyOneCycleMovesTheMomentum) {
  EXPECT_FALSE(momentum({.kind = ScheduleKind::kCosine, .total_steps = 10}, 3, 0).has_value());
  EXPECT_FALSE(
      momentum({.kind = ScheduleKind::kOneCycle, .total_steps = 10, .cycle_momentum = false}, 3, 0).has_value());
  EXPECT_TRUE(momentum({.kind = ScheduleKind::kOneCycle, .total_steps = 10}, 3, 0).has_value());
}

TEST(ScheduleTest, AWarmupLongerThanTheRunEndsInTheMinimum) {
  const ScheduleSettings settings{.kind = ScheduleKind::kCosine, .warmup_steps = 20, .min_lr = 0.5};
  EXPECT_DOUBLE_EQ(learning_rate(settings, 1, 9, 10), 10.0 / 21);
  EXPECT_DOUBLE_EQ(learning_rate(settings, 1, 30, 10), 0.5);
}

TEST(ScheduleTest, AnUnknownLengthIsAnErrorOnlyWhereItMatters) {
  EXPECT_THAT([] { learning_rate({.kind = ScheduleKind::kCosine}, 1, 0, 0); },
              ThrowsMessage<Error>(HasSubstr("schedule 'cosine' needs the number of steps")));
  EXPECT_EQ(learning_rate({.kind = ScheduleKind::kConstant}, 0.5, 7, 0), 0.5);
}

TEST(ScheduleTest, SettingsThatContradictEachOtherAreRefused) {
  EXPECT_THAT([] { check(ScheduleSettings{.kind = ScheduleKind::kStep}); },
              ThrowsMessage<Error>(HasSubstr("needs step_size")));
  EXPECT_THAT([] { check({.kind = ScheduleKind::kOneCycle, .warmup_steps = 5}); },
              ThrowsMessage<Error>(HasSubstr("warmup_steps = 5 was given, only 0 is allowed")));
  EXPECT_THAT([] { check({.kind = ScheduleKind::kCosine, .warmup_steps = 5, .total_steps = 4}); },
              ThrowsMessage<Error>(HasSubstr("warmup_steps = 5 is more than total_steps = 4")));
  EXPECT_NO_THROW(check({.kind = ScheduleKind::kCosine, .warmup_steps = 5, .total_steps = 5}));
}

}  // namespace
}  // namespace trainyard::optimizer
