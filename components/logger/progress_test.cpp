// SPDX-License-Identifier: Apache-2.0
#include "components/logger/progress.h"

#include <gtest/gtest.h>

#include <limits>

namespace trainyard {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

Metrics train(std::uint64_t step, std::int64_t time_ns) {
  return {.step = step,
          .total_steps = 2000,
          .stage = "train",
          .time_ns = time_ns,
          .samples = step * 12,
          .unit = "token",
          .units = step * 768,
          .values = {{"loss", 2.1034}, {"lr", 1e-3}}};
}

std::string without_colours(std::string text) {
  for (std::size_t at; (at = text.find('\x1b')) != std::string::npos;) text.erase(at, text.find('m', at) - at + 1);
  return text;
}

TEST(ProgressTest, PlainLineHasStepLossRateAndEta) {
  Progress progress;
  progress.update(train(0, 0));
  const Metrics last = train(100, 20 * kSecond);
  progress.update(last);
  EXPECT_EQ(progress.plain_line(last), "step 100/2000  loss 2.10340  lr 1.00e-03  3.8k tokens/s  eta 06:20");
}

TEST(ProgressTest, BothLinesShowTheThroughputThatTheFilesHold) {
  Progress progress;
  Metrics metrics;
  for (std::uint64_t step = 1; step <= 5; ++step) {
    metrics = train(step, static_cast<std::int64_t>(step) * kSecond);  // 768 units per second, according to the times.
    metrics.values.push_back({"throughput", 1000.0 * static_cast<double>(step)});
    progress.update(metrics);
  }
  EXPECT_EQ(progress.plain_line(metrics), "step 5/2000  loss 2.10340  lr 1.00e-03  5.0k tokens/s  eta 33:15");
  EXPECT_NE(progress.live_line(79, false).find("  5.0k tokens/s  "), std::string::npos);
}

TEST(ProgressTest, PlainLineUsesShortNames) {
  Progress progress;
  const Metrics metrics{.step = 1,
                        .total_steps = 20,
                        .stage = "train",
                        .values = {{"loss", 2}, {"learning_rate", 1e-3}, {"gradient_norm", 0.5}, {"throughput", 77}}};
  progress.update(metrics);
  EXPECT_EQ(progress.plain_line(metrics), "step 1/20  loss 2.00000  lr 1.00e-03  gradient_norm 0.500000  77 samples/s");
}

TEST(ProgressTest, PlainLineOfAnotherStageBeginsWithItsName) {
  Progress progress;
  progress.update(train(1, 0));
  const Metrics validation{
      .step = 250, .total_steps = 2000, .stage = "validate", .values = {{"loss", 1.9021}, {"accuracy", 0.5}}};
  EXPECT_EQ(progress.plain_line(validation), "validate  step 250/2000  loss 1.90210  accuracy 0.500000");
}

TEST(ProgressTest, FirstLineHasNoRateYet) {
  Progress progress;
  const Metrics first = train(1, kSecond);
  progress.update(first);
  EXPECT_EQ(progress.plain_line(first), "step 1/2000  loss 2.10340  lr 1.00e-03");
}

TEST(ProgressTest, LiveLineShowsEverythingInEightyColumns) {
  Progress progress;
  progress.update(train(0, 0));
  progress.update(train(840, 168 * kSecond));
  progress.update({.stage = "validate", .values = {{"loss", 1.9021}}});
  EXPECT_EQ(progress.live_line(79, false),
            "840/2000  42%  loss 2.10340  lr 1.00e-03  3.8k tokens/s  eta 03:52  val 1.90210");
}

TEST(ProgressTest, LiveLineNeverGoesBeyondTheWidth) {
  Progress progress;
  progress.update(train(0, 0));
  progress.update(train(840, 168 * kSecond));
  for (std::size_t width = 1; width < 200; ++width) {
    const std::string line = without_colours(progress.live_line(width, true));
    EXPECT_LE(line.size(), width) << line;
    EXPECT_TRUE(line.find("840/2000") != std::string::npos || width < 8) << line;
  }
  EXPECT_NE(progress.live_line(120, false).find("[====="), std::string::npos);
}

TEST(ProgressTest, LearningRateMayComeFromTheOptimizer) {
  Progress progress;
  progress.update({.step = 3, .stage = "train", .values = {{"loss", 1}}});
  progress.update({.step = 3, .stage = "optimizer", .values = {{"learning_rate", 0.25}}});
  EXPECT_EQ(progress.live_line(80, false), "step 3  loss 1.00000  lr 2.50e-01");
}

TEST(ProgressTest, ColoursOnlyWhereAsked) {
  Progress progress;
  progress.update(train(1, 0));
  EXPECT_EQ(progress.live_line(80, false).find('\x1b'), std::string::npos);
  EXPECT_NE(progress.live_line(80, true).find("\x1b[1m1/2000\x1b[0m"), std::string::npos);
}

TEST(ProgressTest, WithoutATotalThereIsNeitherPercentNorEta) {
  Progress progress;
  for (std::int64_t i = 0; i < 3; ++i) {
    Metrics metrics = train(static_cast<std::uint64_t>(i) * 10, i * kSecond);
    metrics.total_steps = 0;
    progress.update(metrics);
  }
  EXPECT_EQ(progress.live_line(120, false), "step 20  loss 2.10340  lr 1.00e-03  7.7k tokens/s");
  EXPECT_FALSE(progress.complete());
}

TEST(ProgressTest, SamplesAreCountedWhereThereAreNoUnits) {
  Progress progress;
  for (std::uint64_t i = 0; i < 2; ++i) {
    progress.update(
        {.step = i, .stage = "train", .time_ns = static_cast<std::int64_t>(i) * kSecond, .samples = i * 64});
  }
  EXPECT_EQ(progress.live_line(80, false), "step 1  64 samples/s");
}

TEST(ProgressTest, ALossThatIsNoNumberIsShownAsSuch) {
  Progress progress;
  const Metrics bad{.step = 1, .stage = "train", .values = {{"loss", std::numeric_limits<double>::quiet_NaN()}}};
  progress.update(bad);
  EXPECT_EQ(progress.live_line(80, false), "step 1  loss nan");
  EXPECT_EQ(progress.plain_line(bad), "step 1  loss nan");
}

TEST(ProgressTest, NamesFromOutsideCannotSteerTheTerminal) {
  Progress progress;
  const Metrics hostile{.step = 1, .stage = "\x1b[2J", .values = {{"\x1b[31m", 1}}};
  progress.update(hostile);
  EXPECT_EQ(progress.plain_line(hostile), "?[2J  step 1  ?[31m 1.00000");
  Metrics unit = train(1, 0);
  unit.unit = "\r";
  progress.update(unit);
  unit = train(2, kSecond);
  unit.unit = "\r";
  progress.update(unit);
  EXPECT_EQ(progress.live_line(200, false).find('\r'), std::string::npos);
}

TEST(ProgressTest, TheEndIsComplete) {
  Progress progress;
  EXPECT_FALSE(progress.has_steps());
  progress.update(train(1999, 0));
  EXPECT_FALSE(progress.complete());
  progress.update(train(2000, kSecond));
  EXPECT_TRUE(progress.complete());
  EXPECT_NE(progress.live_line(79, false).find("2000/2000  100%"), std::string::npos);
  EXPECT_NE(progress.live_line(79, false).find("eta 00:00"), std::string::npos);
}

}  // namespace
}  // namespace trainyard
