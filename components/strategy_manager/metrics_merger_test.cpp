// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/metrics_merger.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "messages/error.h"

namespace trainyard::manager {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

class MetricsMergerTest : public ::testing::Test {
 protected:
  void say(std::uint32_t rank, std::uint64_t step, std::vector<Scalar> values, double weight = 1,
           const std::string& stage = "train", const Reductions& reductions = {}) {
    RankMetrics metrics{.rank = rank, .weight = weight, .reductions = reductions};
    metrics.metrics = {.step = step,
                       .total_steps = 100,
                       .stage = stage,
                       .time_ns = 1000 + rank,
                       .samples = 10 * step,
                       .unit = "token",
                       .units = 50 * step,
                       .values = std::move(values)};
    merger_.add(metrics);
  }
  void answer(std::uint32_t rank, std::uint64_t step) { merger_.answered({.rank = rank, .step = step}); }

  /// Returns the merged metrics as texts such as "train 10: loss 1.5, accuracy 0.25".
  std::vector<std::string> taken() {
    std::vector<std::string> texts;
    for (const Metrics& metrics : merger_.take()) {
      std::string text = fmt::format("{} {}:", metrics.stage, metrics.step);
      for (const Scalar& value : metrics.values) text += fmt::format(" {} {}", value.name, value.value);
      texts.push_back(text);
    }
    return texts;
  }

  MetricsMerger merger_{3};
};

TEST_F(MetricsMergerTest, WaitsForAllRanksAndWeighsThem) {
  say(2, 10, {{"loss", 1}}, 1);
  say(0, 10, {{"loss", 2}}, 2);
  EXPECT_THAT(taken(), IsEmpty());
  say(1, 10, {{"loss", 4}}, 5);
  EXPECT_THAT(taken(), ElementsAre("train 10: loss 3.125"));
  EXPECT_THAT(taken(), IsEmpty()) << "once";
}

TEST_F(MetricsMergerTest, TellsTotalsOfAllRanks) {
  for (const std::uint32_t rank : {0u, 1u, 2u}) say(rank, 10, {{"loss", 1}});
  const std::vector<Metrics> metrics = merger_.take();
  ASSERT_EQ(metrics.size(), 1u);
  EXPECT_EQ(metrics[0].total_steps, 100u);
  EXPECT_EQ(metrics[0].samples, 300u);
  EXPECT_EQ(metrics[0].unit, "token");
  EXPECT_EQ(metrics[0].units, 1500u);
  EXPECT_EQ(metrics[0].time_ns, 1002);
}

TEST_F(MetricsMergerTest, ValuesAreMergedOverThoseWhoHaveThemEachInItsWay) {
  const Reductions reductions{{"throughput", Reduction::kSum}, {"worst", Reduction::kMax}, {"best", Reduction::kMin}};
  say(0, 1, {{"loss", 2}, {"throughput", 100}, {"worst", 3}, {"best", 3}}, 4, "train", reductions);
  say(1, 1, {{"throughput", 50}, {"worst", 5}, {"best", 1}, {"own", 7}}, 0, "train", reductions);
  say(2, 1, {{"loss", 4}, {"throughput", 10}, {"worst", 4}, {"best", 2}}, 4, "train", reductions);
  EXPECT_THAT(taken(), ElementsAre("train 1: loss 3 throughput 160 worst 5 best 1 own 7"));
}

TEST_F(MetricsMergerTest, ASubsetOfRanksIsEnoughOnceTheOthersHaveGotFurther) {
  say(0, 10, {{"loss", 1}});
  say(1, 10, {{"loss", 3}});
  say(0, 20, {{"loss", 5}});
  EXPECT_THAT(taken(), IsEmpty()) << "rank 2 may be slow";
  say(2, 30, {{"loss", 7}});
  EXPECT_THAT(taken(), ElementsAre("train 10: loss 2")) << "rank 1 may still speak of step 20";
  say(1, 25, {}, 1, "mine");
  EXPECT_THAT(taken(), ElementsAre("train 20: loss 5")) << "whatever it speaks of, it is past step 20";
}

TEST_F(MetricsMergerTest, TotalsDoNotFallWhereARankIsMissing) {
  for (const std::uint32_t rank : {0u, 1u, 2u}) say(rank, 10, {});
  say(0, 20, {});
  merger_.finish();
  const std::vector<Metrics> metrics = merger_.take();
  ASSERT_EQ(metrics.size(), 2u);
  EXPECT_EQ(metrics[1].samples, 200u + 100 + 100);
}

TEST_F(MetricsMergerTest, ARankThatNeverSpeaksIsHeardOfByItsAnswers) {
  say(0, 10, {{"loss", 1}});
  say(0, 20, {{"loss", 2}});
  for (const std::uint64_t step : {10, 20, 30}) {
    answer(1, step);
    answer(2, step);
  }
  EXPECT_THAT(taken(), IsEmpty()) << "metrics of step 10 and the answers after it may come in any order";
  answer(1, 40);
  answer(2, 40);
  EXPECT_THAT(taken(), ElementsAre("train 10: loss 1"));
  answer(1, 41);
  answer(2, 41);
  EXPECT_THAT(taken(), ElementsAre("train 20: loss 2"));
}

TEST_F(MetricsMergerTest, StepsOfAStageComeInOrderWhoeverIsFirst) {
  say(1, 20, {{"loss", 2}});
  say(1, 30, {{"loss", 3}});
  say(0, 10, {{"loss", 1}});
  say(0, 20, {{"loss", 2}});
  say(2, 10, {{"loss", 1}});
  EXPECT_THAT(taken(), ElementsAre("train 10: loss 1"));
  say(2, 20, {{"loss", 2}});
  EXPECT_THAT(taken(), ElementsAre("train 20: loss 2"));
  say(1, 30, {{"loss", 5}}, 1, "validate");
  merger_.finish();
  EXPECT_THAT(taken(), ElementsAre("train 30: loss 3", "validate 30: loss 5"));
}

TEST_F(MetricsMergerTest, WhatComesTooLateIsDroppedAndCounted) {
  say(0, 10, {{"loss", 1}});
  say(1, 20, {{"loss", 2}});
  say(2, 20, {{"loss", 2}});
  EXPECT_THAT(taken(), ElementsAre("train 10: loss 1"));
  say(2, 10, {{"loss", 9}});
  say(1, 9, {{"loss", 9}});
  EXPECT_EQ(merger_.late(), 2u);
  say(0, 20, {{"loss", 2}});
  EXPECT_THAT(taken(), ElementsAre("train 20: loss 2"));
}

TEST_F(MetricsMergerTest, AStageMayComeTwiceAtAStep) {
  say(0, 0, {{"loss", 1}}, 1, "validate");  // As with a sanity check and a validation before the first step.
  say(0, 0, {{"loss", 2}}, 1, "validate");
  say(1, 0, {{"loss", 1}}, 1, "validate");
  say(2, 0, {{"loss", 1}}, 1, "validate");
  EXPECT_THAT(taken(), ElementsAre("validate 0: loss 1"));
  say(2, 0, {{"loss", 2}}, 1, "validate");
  say(1, 0, {{"loss", 2}}, 1, "validate");
  EXPECT_THAT(taken(), ElementsAre("validate 0: loss 2"));
  EXPECT_EQ(merger_.late(), 0u);
}

TEST_F(MetricsMergerTest, TheEndOfTheRunEndsTheWaiting) {
  say(1, 10, {{"loss", 1}});
  say(1, 20, {{"loss", 2}});
  merger_.finish();
  EXPECT_THAT(taken(), ElementsAre("train 10: loss 1", "train 20: loss 2"));
  say(1, 30, {{"loss", 3}});
  EXPECT_THAT(taken(), ElementsAre("train 30: loss 3")) << "nobody will come any more";
}

TEST_F(MetricsMergerTest, ARankWithoutSamplesHasNoNumbers) {
  say(0, 5, {}, 0, "validate");
  say(1, 5, {{"loss", 2}}, 3, "validate");
  say(2, 5, {{"loss", 6}}, 1, "validate");
  EXPECT_THAT(taken(), ElementsAre("validate 5: loss 3"));
}

TEST_F(MetricsMergerTest, RanksThatThereAreNotAreNamed) {
  EXPECT_THAT([&] { say(3, 7, {}); },
              ThrowsMessage<Error>("metrics of rank 3 came ('train', step 7); there are 3 ranks"));
  EXPECT_THAT([&] { answer(4, 7); }, ThrowsMessage<Error>(HasSubstr("rank 4 has answered order 0; there are 3 ranks")));
}

}  // namespace
}  // namespace trainyard::manager
