// SPDX-License-Identifier: Apache-2.0
// Tests of the spans that an event loop records. The steady clock never runs backwards, so the time in which a test
// does something inside a scope is inside the scope's span.
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "core/activity/loop_activity.h"
#include "core/activity/own_threads.h"
#include "core/activity/wait_scope.h"
#include "core/edge/local_edge.h"
#include "core/testing/pipe.h"

namespace trainyard::core {
namespace {

class SpansTest : public ::testing::Test {
 protected:
  SpansTest() {
    for (Component* component : {static_cast<Component*>(&pipe_.source), static_cast<Component*>(&pipe_.sink)}) {
      activity_.add(*component);
    }
  }

  void start() {
    activity_.start_recording();
    activity_.arrive();
  }

  std::vector<SpanRecord> recorded() const {
    std::vector<SpanRecord> all;
    SpanRecord span;
    while (activity_.spans().ring() != nullptr && activity_.spans().ring()->pop(span)) all.push_back(span);
    return all;
  }

  std::vector<SpanRecord> recorded(SpanKind kind) const {
    std::vector<SpanRecord> all = recorded();
    std::erase_if(all, [kind](const SpanRecord& span) { return span.kind != kind; });
    return all;
  }

  /// Returns a message that component 7 sends now, because of batch 99.
  static Envelope message() {
    return {.type = &message_type<Scalar>(),
            .send_time_ns = std::chrono::system_clock::now().time_since_epoch().count(),
            .trace = 99,
            .source = 7};
  }

  testing::Pipe pipe_;
  std::uint64_t trace_ = 0;
  LoopActivity activity_{&trace_};
  LoopActivity::ThreadScope thread_{activity_};
};

TEST_F(SpansTest, NothingIsRecordedWhileNobodyAsks) {
  {
    const Envelope one = message();
    const BusyScope busy(activity_, pipe_.sink, &one);
    const SpanScope span(SpanKind::kUpdate, "update");
    EXPECT_FALSE(records_spans());
  }
  activity_.sleep();  // A loop does this when it has nothing to do.
  EXPECT_EQ(activity_.spans().ring(), nullptr) << "not even the memory is taken";
  start();
  activity_.stop_recording();
  { const BusyScope busy(activity_, pipe_.sink); }
  EXPECT_TRUE(recorded().empty());
  EXPECT_FALSE(activity_.on());
}

TEST_F(SpansTest, TimesThatAreAccountedForAreNotRecorded) {
  activity_.start();
  {
    const BusyScope busy(activity_, pipe_.sink);
    EXPECT_FALSE(records_spans());
  }
  EXPECT_EQ(activity_.spans().ring(), nullptr);
}

TEST_F(SpansTest, TheEndOfTheRecordingDoesNotEndTheAccounting) {
  activity_.start();
  activity_.start_recording();
  activity_.stop_recording();
  EXPECT_TRUE(activity_.on());
  activity_.stop();
  EXPECT_FALSE(activity_.on());
}

TEST_F(SpansTest, AMessageIsAHopAndThenAHandlerOfTheSameBatch) {
  start();
  const Envelope one = message();
  { const BusyScope busy(activity_, pipe_.sink, &one); }
  const std::vector<SpanRecord> hops = recorded(SpanKind::kHop);
  { const BusyScope busy(activity_, pipe_.sink, &one); }
  const std::vector<SpanRecord> handlers = recorded(SpanKind::kHandler);
  ASSERT_EQ(hops.size(), 1u);
  ASSERT_EQ(handlers.size(), 1u);
  for (const SpanRecord& span : {hops.front(), handlers.front()}) {
    EXPECT_EQ(span.trace, 99u);
    EXPECT_STREQ(span.name, "Scalar");
    EXPECT_EQ(span.component, &pipe_.sink);
    EXPECT_EQ(span.peer, (WaitCause{WaitKind::kMessage, 7}.packed()));
    EXPECT_LE(span.begin_ns, span.end_ns);
  }
}

TEST_F(SpansTest, AMessageFromTheFutureHasNoHopThatRunsBackwards) {
  start();
  Envelope late = message();
  late.send_time_ns += 1'000'000'000;  // The clock of the sender was set back.
  { const BusyScope busy(activity_, pipe_.sink, &late); }
  const std::vector<SpanRecord> hops = recorded(SpanKind::kHop);
  ASSERT_EQ(hops.size(), 1u);
  EXPECT_EQ(hops.front().begin_ns, hops.front().end_ns);
}

TEST_F(SpansTest, AScopeLiesInsideItsHandlerAndHasTheTraceOfTheLoop) {
  start();
  {
    const BusyScope busy(activity_, pipe_.sink);
    trace_ = 5;
    const SpanScope span(SpanKind::kUpdate, "update", 12);
  }
  const std::vector<SpanRecord> all = recorded();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].kind, SpanKind::kUpdate);
  EXPECT_EQ(all[0].step, 12u);
  EXPECT_EQ(all[0].trace, 5u);
  EXPECT_STREQ(all[0].name, "update");
  EXPECT_EQ(all[0].component, &pipe_.sink);
  EXPECT_EQ(all[1].kind, SpanKind::kHandler);
  EXPECT_EQ(all[1].name, nullptr) << "a task";
  EXPECT_LE(all[1].begin_ns, all[0].begin_ns);
  EXPECT_LE(all[0].end_ns, all[1].end_ns);
}

TEST_F(SpansTest, AHandlerInsideAnotherOneKeepsBothApart) {
  start();
  {
    const Envelope one = message();
    const BusyScope outer(activity_, pipe_.source, &one);
    const BusyScope inner(activity_, pipe_.sink);
  }
  const std::vector<SpanRecord> handlers = recorded(SpanKind::kHandler);
  ASSERT_EQ(handlers.size(), 2u);
  EXPECT_EQ(handlers[0].component, &pipe_.sink);
  EXPECT_EQ(handlers[1].component, &pipe_.source);
  EXPECT_STREQ(handlers[1].name, "Scalar");
}

TEST_F(SpansTest, HandlersThatAreNestedVeryDeeplyAreLeftOut) {
  start();
  {
    std::vector<std::unique_ptr<BusyScope>> scopes;
    for (int i = 0; i < 100; ++i) scopes.push_back(std::make_unique<BusyScope>(activity_, pipe_.sink));
    while (!scopes.empty()) scopes.pop_back();
  }
  { const BusyScope busy(activity_, pipe_.source); }
  const std::vector<SpanRecord> handlers = recorded(SpanKind::kHandler);
  EXPECT_EQ(handlers.size(), 9u);
  EXPECT_EQ(handlers.back().component, &pipe_.source);
}

TEST_F(SpansTest, AWaitNamesWhoWasNamedLast) {
  start();
  {
    const BusyScope busy(activity_, pipe_.sink);
    WaitScope waiting(WaitKind::kRanks);
    waiting.blame_rank(3);
    waiting.blame_rank(1);
    for (const std::int64_t now = LoopActivity::now_ns(); LoopActivity::now_ns() == now;) {
    }
  }
  const std::vector<SpanRecord> waits = recorded(SpanKind::kWait);
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits.front().peer, (WaitCause{WaitKind::kRank, 1}.packed()));
  EXPECT_STREQ(waits.front().name, "rank");
}

TEST_F(SpansTest, TheTimeBetweenTwoHandlersIsAWaitForTheSender) {
  start();
  const Envelope one = message();
  { const BusyScope busy(activity_, pipe_.sink, &one); }
  const std::vector<SpanRecord> waits = recorded(SpanKind::kWait);
  ASSERT_FALSE(waits.empty());
  EXPECT_EQ(waits.back().peer, (WaitCause{WaitKind::kMessage, 7}.packed()));
  EXPECT_STREQ(waits.back().name, "message");
  EXPECT_EQ(waits.back().component, &pipe_.sink);
}

TEST_F(SpansTest, AHandlerThatBeganBeforeTheRecordingIsRecordedFromItsBeginning) {
  {
    const BusyScope busy(activity_, pipe_.sink);
    activity_.start_recording();
  }
  activity_.arrive();
  const std::vector<SpanRecord> handlers = recorded(SpanKind::kHandler);
  ASSERT_EQ(handlers.size(), 1u);
  EXPECT_EQ(handlers.front().component, &pipe_.sink);
}

TEST_F(SpansTest, SpansBeyondTheRoomOfTheRingAreCounted) {
  start();
  const BusyScope busy(activity_, pipe_.sink);
  constexpr std::uint64_t kTooMany = 10;
  for (std::uint64_t i = 0; i < SpanRing::kCapacity + kTooMany; ++i) {
    const SpanScope span(SpanKind::kOther, "part", i);
  }
  EXPECT_EQ(activity_.spans().ring()->lost(), kTooMany);
  const std::vector<SpanRecord> all = recorded();
  ASSERT_EQ(all.size(), SpanRing::kCapacity);
  EXPECT_EQ(all.back().step, SpanRing::kCapacity - 1) << "the newest are lost";
}

TEST_F(SpansTest, AThreadThatIsNoEventLoopRecordsNothing) {
  start();
  std::thread([&] {
    EXPECT_FALSE(records_spans());
    const SpanScope span(SpanKind::kUpdate, "update");
    add_span({.kind = SpanKind::kRead, .name = "read", .begin_ns = 1, .end_ns = 2});
  }).join();
  EXPECT_TRUE(recorded().empty());
}

TEST_F(SpansTest, OperationsAreOnlyRecordedIfTheyAreWantedToo) {
  start();
  EXPECT_FALSE(records_operations());
  activity_.spans().want_operations(true);
  EXPECT_TRUE(records_operations());
  activity_.stop_recording();
  EXPECT_FALSE(records_operations());
}

TEST_F(SpansTest, OwnThreadsKnowWhetherTheirWorkIsRecorded) {
  const OwnThreads threads(activity_, pipe_.sink, 1);
  EXPECT_FALSE(threads.recorded());
  start();
  EXPECT_TRUE(threads.recorded());
  const BusyScope busy(activity_, pipe_.sink);
  add_span({.kind = SpanKind::kRead, .name = "read", .begin_ns = 5, .end_ns = 8, .own_thread = 1});
  const std::vector<SpanRecord> reads = recorded(SpanKind::kRead);
  ASSERT_EQ(reads.size(), 1u);
  EXPECT_EQ(reads.front().begin_ns, 5);
  EXPECT_EQ(reads.front().own_thread, 1u);
  EXPECT_EQ(reads.front().component, &pipe_.sink);
}

}  // namespace
}  // namespace trainyard::core
