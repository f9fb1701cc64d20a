// SPDX-License-Identifier: Apache-2.0
#include "viewer/rules.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <random>

namespace trainyard::viewer {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RulesTest : public ::testing::Test {
 protected:
  Rule::Raise raise() {
    return [this](const Alert& alert) {
      texts_.push_back(alert.text);
      steps_.push_back(alert.step);
    };
  }
  void train(Rule& rule, double loss) {
    Metrics metrics{.step = ++step_, .stage = "train"};
    metrics.values = {{"loss", loss}};
    rule.on_metrics(metrics);
  }

  std::uint64_t step_ = 0;
  std::vector<std::string> texts_;
  std::vector<std::uint64_t> steps_;
};

TEST_F(RulesTest, ALossThatIsNotANumberIsReportedOnceUntilItIsOneAgain) {
  NanRule rule(raise());
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  for (const double loss : {1.0, nan, nan, 1.0, infinity, nan}) train(rule, loss);
  EXPECT_THAT(texts_, ElementsAre("train/loss is not a number at step 2", "train/loss is infinite at step 5"));
}

TEST_F(RulesTest, AJumpOfTheLossIsASpikeAndNoiseIsNot) {
  SpikeRule rule(raise());
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 0.05);
  for (int i = 0; i < 1000; ++i) train(rule, 2 * std::exp(-i / 300.0) + 0.5 + noise(random));
  EXPECT_THAT(texts_, IsEmpty());
  train(rule, 5);
  train(rule, 6);
  EXPECT_THAT(steps_, ElementsAre(1001)) << "a spike of two steps is one spike";
  for (int i = 0; i < 100; ++i) train(rule, 0.55 + noise(random));
  train(rule, 5);
  EXPECT_THAT(steps_, ElementsAre(1001, 1103));
}

TEST_F(RulesTest, ALevelThatStaysIsNoSpikeForever) {
  SpikeRule rule(raise());
  for (int i = 0; i < 200; ++i) train(rule, 1);
  for (int i = 0; i < 2000; ++i) train(rule, 3);
  EXPECT_THAT(steps_, ElementsAre(201));
  for (int i = 0; i < 10; ++i) train(rule, 30);
  EXPECT_THAT(steps_, ElementsAre(201, 2201));
}

TEST_F(RulesTest, ALossThatNoLongerFallsIsAPlateau) {
  PlateauRule rule(raise());
  for (int i = 0; i < 3000; ++i) train(rule, 2.0 * std::exp(-i / 1000.0));
  EXPECT_THAT(texts_, IsEmpty()) << "it still falls";
  for (int i = 0; i < 5000; ++i) train(rule, 0.1);
  ASSERT_EQ(steps_.size(), 1u) << "one plateau";
  EXPECT_GE(steps_[0], 4000u);
  EXPECT_LE(steps_[0], 4500u);
}

TEST_F(RulesTest, ARankThatLagsIsNamed) {
  SlowRankRule rule(raise());
  const auto report = [&](std::uint32_t rank, double throughput) {
    RankMetrics metrics{.rank = rank};
    metrics.metrics = {.step = step_, .stage = "train"};
    metrics.metrics.values = {{"throughput", throughput}};
    rule.on_rank(metrics);
  };
  for (; step_ < 20; ++step_) {
    // Rank 2 is slow at step 5 only, and rank 3 from step 10 on.
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      report(rank, (rank == 2 && step_ == 5) || (rank == 3 && step_ >= 10) ? 50 : 100);
    }
  }
  EXPECT_THAT(texts_, ElementsAre("rank 3 is slow: 50 units per second, 100 in the median"));
  EXPECT_THAT(steps_, ElementsAre(14));
}

TEST_F(RulesTest, ADiskThatFillsIsReportedAtTwoLevels) {
  DiskRule rule(raise());
  for (const std::uint64_t mib : {100'000, 3000, 1500, 1400, 100, 90, 1500, 5000, 1000, 0}) {
    rule.on_poll({.free_bytes = mib << 20});
  }
  EXPECT_THAT(texts_,
              ElementsAre("only 1500 MiB are free where the run writes", "only 100 MiB are free where the run writes",
                          "only 1000 MiB are free where the run writes"));
}

TEST_F(RulesTest, AnEdgeThatDropsMessagesIsReportedOnce) {
  DroppedRule rule(raise());
  rule.on_poll({.dropped = {{"a -> b (/x)", 0}, {"a -> c (/x)", 0}}});
  rule.on_poll({.dropped = {{"a -> b (/x)", 1}, {"a -> c (/x)", 0}}});
  rule.on_poll({.dropped = {{"a -> b (/x)", 9}, {"a -> c (/x)", 3}}});
  EXPECT_THAT(texts_,
              ElementsAre("the edge a -> b (/x) has dropped 1 message", "the edge a -> c (/x) has dropped 3 messages"));
}

}  // namespace
}  // namespace trainyard::viewer
