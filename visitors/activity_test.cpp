// SPDX-License-Identifier: Apache-2.0
#include "visitors/activity.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace trainyard::visitors {
namespace {

using nlohmann::json;

ComponentTotals totals(std::int64_t time, std::int64_t busy, std::vector<Wait> waiting, std::int64_t quiet = 0) {
  return {.component = "host",
          .time_ns = time,
          .began_ns = 1000,
          .busy_ns = busy,
          .quiet_ns = quiet,
          .messages = 0,
          .waiting = std::move(waiting)};
}

TEST(ActivityTest, SharesAreDifferencesOfTotals) {
  const auto earlier = totals(2000, 300, {{"loader", "message", 500}});
  auto later = totals(3000, 500, {{"loader", "message", 600}, {"optimizer", "message", 700}});
  later.messages = 4;
  const ComponentShares shares = shares_between(&earlier, later);
  EXPECT_DOUBLE_EQ(shares.seconds, 1e-6);
  EXPECT_DOUBLE_EQ(shares.busy, 0.2);
  ASSERT_EQ(shares.waiting.size(), 2u);
  EXPECT_EQ(shares.waiting[0].target, "optimizer") << "the largest is first";
  EXPECT_DOUBLE_EQ(shares.waiting[0].share, 0.7);
  EXPECT_DOUBLE_EQ(shares.waiting_for("loader"), 0.1);
  EXPECT_DOUBLE_EQ(shares.messages_per_s, 4e6);
}

TEST(ActivityTest, OneAnswerCountsFromTheBeginningOfTheAccounting) {
  EXPECT_DOUBLE_EQ(shares_between(nullptr, totals(2000, 250, {})).busy, 0.25);
  auto other = totals(1500, 400, {});
  other.began_ns = 10;
  EXPECT_DOUBLE_EQ(shares_between(&other, totals(2000, 250, {})).busy, 0.25) << "the accounting has begun anew";
}

TEST(ActivityTest, WaitingThatBeganEarlierIsCutOff) {
  const auto earlier = totals(2000, 0, {}, 1000);
  const ComponentShares shares = shares_between(&earlier, totals(3000, 400, {{"loader", "message", 1600}}));
  EXPECT_DOUBLE_EQ(shares.busy, 0.4);
  EXPECT_DOUBLE_EQ(shares.waiting_for("loader"), 0.6);
}

TEST(ActivityTest, WaitingThatHasNotEndedCountsForWhomItWaitedMost) {
  const std::vector<Wait> before{{"loader", "message", 700}, {"optimizer", "message", 100}};
  const auto earlier = totals(2000, 200, before, 0);
  const ComponentShares shares = shares_between(&earlier, totals(3000, 200, before, 1000));
  EXPECT_DOUBLE_EQ(shares.waiting_for("loader"), 1.0);
}

TEST(ActivityTest, AComponentThatHasNeverWaitedIsIdleInsteadOfWaiting) {
  const ComponentShares shares = shares_between(nullptr, totals(2000, 0, {}, 1000));
  EXPECT_EQ(shares.busy, 0);
  EXPECT_TRUE(shares.waiting.empty());
}

TEST(ActivityTest, WorkOfOwnThreadsComesBeforeTheWaitingBesideIt) {
  const ComponentShares shares = shares_between(nullptr, totals(2000, 900, {{"host", "room", 1000}}));
  EXPECT_DOUBLE_EQ(shares.busy, 0.9);
  EXPECT_DOUBLE_EQ(shares.waiting_for("host"), 0.1);
  EXPECT_DOUBLE_EQ(shares_between(nullptr, totals(2000, 5000, {})).busy, 1.0) << "never more than the whole";
}

TEST(ActivityTest, TotalsAreReadFromTheAnswersOfAllProcesses) {
  const json answers = json::parse(R"({
    "main": {"edges": [], "activity": [{"component": "host", "time_ns": 9, "began_ns": 4, "busy_ns": 3, "quiet_ns": 1,
      "messages": 2, "waiting": [{"for": "loader", "kind": "message", "ns": 5}]}]},
    "idle": {"activity": null}, "gone": {"error": "process 'gone' is gone"}})");
  const auto all = read_totals(answers);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].component, "host");
  EXPECT_EQ(all[0].time_ns - all[0].began_ns, 5);
  EXPECT_EQ(all[0].waiting.at(0).target, "loader");
}

TEST(ActivityTest, WhatIsNotOfTheExpectedFormIsLeftOut) {
  for (const char* answers :
       {"[]", "3", R"({"p": 1})", R"({"p": {"activity": {}}})", R"({"p": {"activity": [7, {"component": 3}]}})",
        R"({"p": {"activity": [{"component": "c", "time_ns": "soon", "waiting": 4}]}})",
        R"({"p": {"activity": [{"component": "c", "time_ns": 1, "began_ns": 1}]}})"}) {
    EXPECT_TRUE(read_totals(json::parse(answers)).empty()) << answers;
  }
}

}  // namespace
}  // namespace trainyard::visitors
