#include "components/logger/progress.h"

#include <gtest/gtest.h>

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

TEST(ProgressTest, PlainLineHasStepLossRateAndEta) {
  Progress progress;
  progress.update(train(0, 0));
  const Metrics last = train(100, 20 * kSecond);
  progress.update(last);
  EXPECT_EQ(progress.plain_line(last), "step 100/2000  loss 2.10340  lr 1.00e-03  3.8k tokens/s  eta 06:20");
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

}  // namespace
}  // namespace trainyard
