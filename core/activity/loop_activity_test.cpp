// SPDX-License-Identifier: Apache-2.0
// Tests of the times that LoopActivity measures for handlers, waits and intervals that a test makes. The steady clock
// never runs backwards, so the time that a test spends in a scope is a lower limit for the time that must be measured
// there.
#include "core/activity/loop_activity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "core/activity/own_threads.h"
#include "core/activity/wait_scope.h"
#include "core/edge/local_edge.h"
#include "core/testing/pipe.h"

namespace trainyard::core {
namespace {

constexpr std::int64_t kSpan = 2'000'000;

void spend() {
  const std::int64_t end = LoopActivity::now_ns() + kSpan;
  while (LoopActivity::now_ns() < end) {
  }
}

std::int64_t real_now() { return std::chrono::system_clock::now().time_since_epoch().count(); }

class LoopActivityTest : public ::testing::Test {
 protected:
  LoopActivityTest() {
    activity_.add(pipe_.source);
    activity_.add(pipe_.sink);
  }

  void start() {
    activity_.start();
    activity_.arrive();
  }

  Totals totals(const Component& component) const {
    const auto all = activity_.read().components;
    return *std::ranges::find(all, &component, &Totals::component);
  }

  std::int64_t waited(const Component& component, WaitCause cause) const {
    std::int64_t ns = 0;
    for (const Totals::Wait& wait : totals(component).waiting) ns += wait.cause == cause ? wait.ns : 0;
    return ns;
  }

  /// The time since the accounting began.
  std::int64_t elapsed() const {
    const LoopActivity::Reading reading = activity_.read();
    return reading.time_ns - reading.began_ns;
  }

  /// Expects that the component was not busy for at least `ns`. Its busy time is read before the elapsed time, because
  /// both may grow.
  void expect_not_busy_for(std::int64_t ns, const Component& component) const {
    const std::int64_t busy_ns = totals(component).busy_ns;
    EXPECT_LE(busy_ns, elapsed() - ns);
  }

  /// Handles a message that component 7 sends now.
  void handle_message() {
    const Envelope message{.send_time_ns = real_now(), .source = 7};
    const BusyScope busy(activity_, pipe_.sink, &message);
  }

  testing::Pipe pipe_;
  LoopActivity activity_;
  LoopActivity::ThreadScope thread_{activity_};
};

TEST_F(LoopActivityTest, AHandlerIsBusyAndItsMessageIsCounted) {
  start();
  {
    const Envelope message{.send_time_ns = real_now(), .source = 7};
    const BusyScope busy(activity_, pipe_.sink, &message);
    spend();
    EXPECT_GE(totals(pipe_.sink).busy_ns, kSpan) << "also while the handler runs";
  }
  const Totals found = totals(pipe_.sink);
  EXPECT_GE(found.busy_ns, kSpan);
  EXPECT_EQ(found.messages, 1u);
  EXPECT_EQ(totals(pipe_.source).busy_ns, 0);
  EXPECT_GE(totals(pipe_.source).quiet_ns, kSpan);
}

TEST_F(LoopActivityTest, AnIntervalThatAMessageEndsIsWaitingForItsSender) {
  start();
  spend();
  EXPECT_GE(totals(pipe_.sink).quiet_ns, kSpan) << "nobody knows yet who will end it";
  EXPECT_TRUE(totals(pipe_.sink).waiting.empty());
  handle_message();
  EXPECT_GE(waited(pipe_.sink, {WaitKind::kMessage, 7}), kSpan);
  EXPECT_EQ(waited(pipe_.sink, {WaitKind::kThread}), 0);
}

TEST_F(LoopActivityTest, AMessageThatWaitsWhileAnotherComponentRunsIsWaitingForTheThread) {
  start();
  const Envelope message{.send_time_ns = real_now(), .source = 7};
  {
    const BusyScope busy(activity_, pipe_.source);
    spend();
  }
  { const BusyScope busy(activity_, pipe_.sink, &message); }
  EXPECT_GE(waited(pipe_.sink, {WaitKind::kThread}), kSpan);
}

TEST_F(LoopActivityTest, AnIntervalThatReturnedCreditEndsIsWaitingForTheReceiver) {
  start();
  spend();
  {
    const RoomScope room(activity_, 3);
    handle_message();
  }
  EXPECT_GE(waited(pipe_.sink, {WaitKind::kRoom, 3}), kSpan);
  EXPECT_EQ(waited(pipe_.sink, {WaitKind::kMessage, 7}), 0);
}

TEST_F(LoopActivityTest, AnIntervalThatATimerEndsIsIdle) {
  start();
  spend();
  { const BusyScope busy(activity_, pipe_.sink); }
  EXPECT_TRUE(totals(pipe_.sink).waiting.empty());
  expect_not_busy_for(kSpan, pipe_.sink);
}

TEST_F(LoopActivityTest, WaitingInsideAHandlerIsNotBusyAndTheRankNamedLastGetsAllOfIt) {
  start();
  {
    const BusyScope busy(activity_, pipe_.sink);
    WaitScope waiting(WaitKind::kRanks);
    ASSERT_TRUE(waiting.counts());
    spend();
    waiting.blame_rank(2);
    spend();
    waiting.blame_rank(5);
    EXPECT_GE(waited(pipe_.sink, {WaitKind::kRank, 5}), 2 * kSpan) << "also while it waits";
  }
  EXPECT_GE(waited(pipe_.sink, {WaitKind::kRank, 5}), 2 * kSpan);
  EXPECT_EQ(waited(pipe_.sink, {WaitKind::kRank, 2}), 0);
  expect_not_busy_for(2 * kSpan, pipe_.sink);
}

TEST_F(LoopActivityTest, TheInnerOfTwoHandlersDoesNotCountForTheOuter) {
  start();
  {
    const BusyScope outer(activity_, pipe_.source);
    {
      const BusyScope inner(activity_, pipe_.sink);
      spend();
    }
    expect_not_busy_for(kSpan, pipe_.source);
    spend();
  }
  EXPECT_GE(totals(pipe_.source).busy_ns, kSpan);
  EXPECT_GE(totals(pipe_.sink).busy_ns, kSpan);
  EXPECT_LE(totals(pipe_.source).busy_ns + totals(pipe_.sink).busy_ns, elapsed());
}

TEST_F(LoopActivityTest, AHandlerUnderWayCountsFromTheBeginningOfTheAccounting) {
  {
    const BusyScope busy(activity_, pipe_.sink);
    activity_.start();
    spend();
    EXPECT_GE(totals(pipe_.sink).busy_ns, kSpan) << "before the loop has entered anything";
    EXPECT_EQ(totals(pipe_.source).busy_ns, 0);
  }
  activity_.arrive();
  const std::int64_t busy_ns = totals(pipe_.sink).busy_ns;
  EXPECT_GE(busy_ns, kSpan);
  spend();
  EXPECT_EQ(totals(pipe_.sink).busy_ns, busy_ns) << "the handler has returned";
}

TEST_F(LoopActivityTest, AWaitUnderWayCountsFromTheBeginningOfTheAccounting) {
  {
    const BusyScope busy(activity_, pipe_.sink);
    const WaitScope waiting(WaitKind::kDevice);
    activity_.start();
    spend();
    EXPECT_GE(waited(pipe_.sink, {WaitKind::kDevice}), kSpan);
  }
  activity_.arrive();
  EXPECT_GE(waited(pipe_.sink, {WaitKind::kDevice}), kSpan);
  expect_not_busy_for(kSpan, pipe_.sink);
}

TEST_F(LoopActivityTest, AccountingThatBeginsAgainBeginsAtZero) {
  start();
  handle_message();
  activity_.stop();
  handle_message();
  start();
  EXPECT_EQ(totals(pipe_.sink).messages, 0u);
  handle_message();
  EXPECT_EQ(totals(pipe_.sink).messages, 1u);
}

TEST_F(LoopActivityTest, ThreadsOfAComponentAreBusyAsFarAsAllOfThemAre) {
  start();
  OwnThreads threads(activity_, pipe_.sink, 2);
  {
    const OwnThreads::Busy first(&threads, 0);
    spend();
  }
  const std::int64_t one_of_two = totals(pipe_.sink).busy_ns;
  EXPECT_GE(one_of_two, kSpan / 2);
  {
    const OwnThreads::Busy first(&threads, 0);
    const OwnThreads::Busy second(&threads, 1);
    spend();
    EXPECT_GE(totals(pipe_.sink).busy_ns, one_of_two + kSpan) << "also while they work";
  }
  EXPECT_GE(totals(pipe_.sink).busy_ns, one_of_two + kSpan);
}

TEST_F(LoopActivityTest, TheTimeOfThreadsThatHaveEndedStays) {
  start();
  {
    OwnThreads threads(activity_, pipe_.sink, 1);
    const OwnThreads::Busy busy(&threads, 0);
    spend();
  }
  EXPECT_GE(totals(pipe_.sink).busy_ns, kSpan);
}

TEST_F(LoopActivityTest, ManyCausesShareTheLastPlace) {
  start();
  for (std::uint32_t sender = 0; sender < 200; ++sender) {
    const Envelope message{.send_time_ns = real_now(), .source = sender};
    const BusyScope busy(activity_, pipe_.sink, &message);
  }
  EXPECT_EQ(totals(pipe_.sink).messages, 200u);
  EXPECT_LE(totals(pipe_.sink).waiting.size(), 64u);
  EXPECT_GT(waited(pipe_.sink, {WaitKind::kOthers}), 0);
}

TEST_F(LoopActivityTest, TotalsNeverFallWhileTheLoopChangesThem) {
  std::atomic<bool> stop{false};
  activity_.start();
  std::thread loop([&] {
    while (!stop) handle_message();
  });
  std::int64_t busy_ns = 0;
  std::uint64_t messages = 0;
  const std::int64_t began = activity_.read().began_ns;
  while (messages < 50'000) {
    const LoopActivity::Reading reading = activity_.read();
    const Totals& found = reading.components.back();
    EXPECT_GE(found.messages, messages);
    EXPECT_LE(found.busy_ns, reading.time_ns - began);
    messages = found.messages;
    busy_ns = found.busy_ns;
  }
  stop = true;
  loop.join();
  EXPECT_GT(busy_ns, 0);
}

/// Here the loop runs the components and the edge, instead of the test calling BusyScope.
TEST_F(LoopActivityTest, AComponentOfALoopWaitsForTheOneWhoseMessageItGets) {
  LoopActivity& activity = pipe_.loop.activity();
  activity.add(pipe_.source);
  activity.add(pipe_.sink);
  LocalEdge edge(pipe_.source.out, pipe_.sink.in, pipe_.loop, 4, Policy::kBlock, 8, 1 << 20);
  pipe_.source.out.add_edge(edge);
  pipe_.activate();
  activity.start();
  pipe_.loop.post([&] { activity.arrive(); });
  pipe_.run_until_idle();
  spend();
  pipe_.source.out.send(Scalar{.value = 1});
  pipe_.run_until_idle();
  const auto all = activity.read().components;
  const Totals& found = *std::ranges::find(all, &pipe_.sink, &Totals::component);
  EXPECT_EQ(found.messages, 1u);
  ASSERT_FALSE(found.waiting.empty());
  EXPECT_EQ(found.waiting.back().cause, (WaitCause{WaitKind::kMessage, 0}));
  EXPECT_GE(found.waiting.back().ns, kSpan);
}

}  // namespace
}  // namespace trainyard::core
