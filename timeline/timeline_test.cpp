// SPDX-License-Identifier: Apache-2.0
#include "timeline/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "messages/error.h"
#include "timeline/batch_path.h"
#include "timeline/profile.h"
#include "timeline/testing/spans_maker.h"

namespace trainyard::timeline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t kTrace = (std::uint64_t{1} << 48) | 7;

std::string error_of(const Spans& spans) {
  try {
    Timeline().add(spans);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(TimelineTest, RefusesIndicesAndTimesThatCannotBe) {
  SpansMaker maker;
  maker.add(SpanKind::kHandler, "host", "Batch", 5, 9);
  Spans wrong = maker.spans();
  wrong.spans[0].source = 1;
  EXPECT_EQ(error_of(wrong), "a message of spans refers to component 1, and has 1");
  wrong = maker.spans();
  wrong.spans[0].name = 9;
  EXPECT_EQ(error_of(wrong), "a message of spans refers to name 9, and has 2");
  wrong = maker.spans();
  wrong.spans[0].end_ns = 4;
  EXPECT_EQ(error_of(wrong), "a message of spans has a span from 5 ns to 4 ns");
}

TEST(TimelineTest, BoundsWhatAStrangerCanMakeItKeep) {
  Timeline timeline(100);
  SpansMaker maker;
  for (int i = 0; i < 250; ++i) {
    Span& span = maker.add(SpanKind::kStep, "host", "step", i, i + 1);
    span.step = static_cast<std::uint64_t>(i) + 1;
    span.trace = static_cast<std::uint64_t>(i) + 1;
  }
  timeline.add(maker.spans());
  EXPECT_EQ(timeline.events().size(), 100u);
  EXPECT_EQ(timeline.dropped(), 150u);
  EXPECT_EQ(timeline.steps().size(), 100u);
  EXPECT_EQ(timeline.step_of(1), 0u);
  EXPECT_EQ(timeline.step_of(250), 250u);
  SpansMaker names;
  for (int i = 0; i < 10'001; ++i) names.add(SpanKind::kOther, "host", "name" + std::to_string(i), 0, 1);
  EXPECT_THAT(error_of(names.spans()), HasSubstr("more than 10000 different names"));
}

TEST(TimelineTest, ForgetsTheStepsAndBatchesWhoseEventsAreDropped) {
  constexpr std::uint64_t kSteps = 100;
  Timeline timeline(200);
  for (std::uint64_t step = 1; step <= kSteps; ++step) {
    const auto at = static_cast<std::int64_t>(step) * 100;
    SpansMaker made("main", 1);
    made.add(SpanKind::kRead, "loader", "read", at, at + 5).trace = step;
    Span& forward = made.add(SpanKind::kForward, "host", "forward", at + 10, at + 50);
    forward.step = forward.trace = step;
    made.add(SpanKind::kBackward, "host", "backward", at + 50, at + 90).trace = step;
    made.add(SpanKind::kStep, "host", "step", at, at + 100).step = step;
    timeline.add(made.spans());
    SpansMaker far("far", 2);  // A process on another host, whose clock is far ahead.
    far.add(SpanKind::kWait, "relay", "message", at + 1'000'000, at + 1'000'050);
    timeline.add(far.spans());
  }
  ASSERT_EQ(timeline.dropped(), kSteps * 5 - 200);
  // The last 40 steps remain, with 5 events each.
  EXPECT_EQ(timeline.steps().size(), 40u);
  EXPECT_EQ(timeline.steps().begin()->first, 61u);
  EXPECT_FALSE(timeline.was_read(60));
  EXPECT_TRUE(timeline.was_read(61));
  EXPECT_EQ(timeline.step_of(60), 0u);
  EXPECT_EQ(timeline.step_of(61), 61u);
  const std::optional<StepWindow> window = find_steps(timeline, 20);
  ASSERT_TRUE(window);
  EXPECT_EQ(window->first, 61u);
  EXPECT_EQ(profile_of(timeline, *window).components.size(), 2u) << "host and loader";
}

TEST(TimelineTest, LeavesOutAStepOfWhichEventsWereDroppedBeforeItEnded) {
  Timeline timeline(10);
  SpansMaker long_step, rest;
  for (int i = 0; i < 20; ++i) long_step.add(SpanKind::kOperation, "host", "addmm", 100 + i, 101 + i);
  timeline.add(long_step.spans());
  rest.add(SpanKind::kStep, "host", "step", 100, 200).step = 1;
  rest.add(SpanKind::kStep, "host", "step", 200, 300).step = 2;
  timeline.add(rest.spans());
  ASSERT_EQ(timeline.steps().size(), 1u);
  EXPECT_EQ(timeline.steps().begin()->first, 2u);
}

TEST(TimelineTest, FindsTheStepOfABatchWhereverItIsKnown) {
  Timeline timeline;
  SpansMaker maker;
  maker.add(SpanKind::kRead, "loader", "read", 0, 1).trace = kTrace;
  Span& forward = maker.add(SpanKind::kForward, "host", "forward", 2, 3);
  forward.step = 4;
  forward.trace = kTrace;
  Span& written = maker.add(SpanKind::kWrite, "writer", "write", 9, 11);
  written.step = 2;
  written.trace = kTrace + 1;
  timeline.add(maker.spans());
  EXPECT_EQ(timeline.step_of(kTrace), 4u);
  EXPECT_EQ(timeline.step_of(kTrace + 1), 0u) << "a checkpoint is written long after its step";
  EXPECT_THAT(timeline.batches_of(4), ElementsAre(kTrace));
  EXPECT_TRUE(timeline.was_read(kTrace));
  EXPECT_EQ(batch_of(kTrace).rank, 0u);
  EXPECT_EQ(batch_of(kTrace).batch, 7u);
}

TEST(TimelineTest, AddsUpWhatProcessesHaveLost) {
  Timeline timeline;
  SpansMaker one("a", 1), other("b", 2);
  one.spans().lost = 3;
  timeline.add(one.spans());
  one.spans().lost = 5;
  timeline.add(one.spans());
  other.spans().lost = 7;
  timeline.add(other.spans());
  EXPECT_EQ(timeline.lost(), 12u);
}

TEST(BatchPathTest, ShowsWhatHappenedBecauseOfTheBatchInItsOrderAndNothingElse) {
  Timeline timeline;
  SpansMaker loader("loading", 1), main("main", 2);
  loader.add(SpanKind::kRead, "loader", "read", 0, 40).trace = kTrace;
  main.add(SpanKind::kHop, "host", "Batch", 50, 60, "loader").trace = kTrace;
  main.add(SpanKind::kWait, "host", "message", 20, 50, "loader").trace = kTrace;
  main.add(SpanKind::kBackward, "host", "backward", 80, 95).trace = kTrace;
  main.add(SpanKind::kWait, "host", "rank", 85, 90, "rank1/host").trace = kTrace;
  main.add(SpanKind::kForward, "host", "forward", 65, 80).trace = kTrace;
  main.add(SpanKind::kHandler, "host", "Batch", 60, 100, "loader").trace = kTrace;
  main.add(SpanKind::kHandler, "host", "Batch", 160, 200, "loader").trace = kTrace + 1;
  main.add(SpanKind::kStep, "host", "step", 10, 130).trace = kTrace;
  timeline.add(main.spans());
  timeline.add(loader.spans());

  const BatchPath path = path_of(timeline, kTrace);
  std::vector<std::string> lines;
  for (const PathLine& line : path.lines) {
    lines.push_back(std::string(line.depth, '>') + words_for(line.event) + " at " + std::string(line.event.component));
  }
  EXPECT_THAT(lines, ElementsAre("read at loader", "Batch from loader at host", "handles Batch at host",
                                 ">forward at host", ">backward at host", ">>waits for rank1/host at host"));
  EXPECT_EQ(path.begin_ns, 0);
  EXPECT_EQ(path.end_ns, 100);
  EXPECT_TRUE(path_of(timeline, 12345).lines.empty());
}

/// Tests with three steps of 100 ns. The accelerator host waits, computes and is idle; the data loader has started two
/// threads.
class ProfileTest : public ::testing::Test {
 protected:
  ProfileTest() {
    SpansMaker maker;
    for (std::int64_t step = 0; step < 3; ++step) {
      const std::int64_t at = 100 * step;
      maker.add(SpanKind::kStep, "host", "step", at, at + 100).step = static_cast<std::uint64_t>(step) + 5;
      maker.add(SpanKind::kWait, "host", "message", at, at + 20, "loader");
      maker.add(SpanKind::kHop, "host", "Batch", at + 10, at + 20, "loader");
      maker.add(SpanKind::kHandler, "host", "Batch", at + 20, at + 90, "loader");
      maker.add(SpanKind::kForward, "host", "forward", at + 30, at + 50);
      maker.add(SpanKind::kBackward, "host", "backward", at + 50, at + 85);
      maker.add(SpanKind::kCollective, "host", "reduce", at + 60, at + 70);
      maker.add(SpanKind::kWait, "host", "rank", at + 62, at + 66, "rank1/host");
      maker.add(SpanKind::kOperation, "host", "linear", at + 30, at + 50);
      maker.add(SpanKind::kOperation, "host", "addmm", at + 35, at + 45);
      maker.add(SpanKind::kRead, "loader", "read", at, at + 60).own_thread = 1;
      maker.add(SpanKind::kRead, "loader", "read", at, at + 20).own_thread = 2;
    }
    timeline_.add(maker.spans());
  }

  Timeline timeline_;
};

TEST_F(ProfileTest, TheInnermostSpanGetsTheTimeAndEverythingAddsUp) {
  const Profile profile = profile_of(timeline_, find_steps(timeline_, 3).value());
  ASSERT_EQ(profile.components.size(), 2u);
  const ComponentProfile& host = profile.components[0];
  EXPECT_EQ(host.component, "host");
  std::map<std::string, std::int64_t> times;
  std::int64_t sum = host.idle_ns;
  for (const ProfilePart& part : host.parts) {
    times[part.what] = part.ns;
    sum += part.ns;
  }
  EXPECT_EQ(times["backward"], 3 * 25);
  EXPECT_EQ(times["forward"], 3 * 20);
  EXPECT_EQ(times["reduce"], 3 * 6);
  EXPECT_EQ(times["waits for rank1/host"], 3 * 4);
  EXPECT_EQ(times["waits for loader"], 3 * 20);
  EXPECT_EQ(times["other work"], 3 * 15);
  EXPECT_EQ(host.idle_ns, 3 * 10);
  EXPECT_EQ(sum, 300);
  EXPECT_EQ(host.parts.front().what, "backward") << "the longest is the first";
}

TEST_F(ProfileTest, ThreadsOfAComponentCountBesideItsEventLoop) {
  const ComponentProfile loader = profile_of(timeline_, find_steps(timeline_, 3).value()).components.at(1);
  EXPECT_EQ(loader.idle_ns, 300);
  EXPECT_EQ(loader.number_of_own_threads, 2u);
  ASSERT_EQ(loader.own_threads.size(), 1u);
  EXPECT_EQ(loader.own_threads[0].ns, 3 * (60 + 20) / 2);
}

TEST_F(ProfileTest, MessagesAndOperationsAreCounted) {
  const Profile profile = profile_of(timeline_, find_steps(timeline_, 2).value());
  ASSERT_EQ(profile.hops.size(), 1u);
  EXPECT_EQ(profile.hops[0].from + " -> " + profile.hops[0].to, "loader -> host");
  EXPECT_EQ(profile.hops[0].count, 2u);
  EXPECT_EQ(profile.hops[0].mean_ns, 10);
  ASSERT_EQ(profile.operations.size(), 2u);
  for (const OperationProfile& operation : profile.operations) {
    EXPECT_EQ(operation.self_ns, 2 * 10) << operation.name;
    EXPECT_EQ(operation.total_ns, operation.name == "linear" ? 2 * 20 : 2 * 10);
  }
}

TEST_F(ProfileTest, StepsMustFollowEachOther) {
  EXPECT_EQ(find_steps(timeline_, 3)->first, 5u);
  EXPECT_FALSE(find_steps(timeline_, 4));
  EXPECT_EQ(find_steps(timeline_, 2, 5)->first, 6u);
  SpansMaker later;
  for (std::uint64_t step = 9; step < 12; ++step) {
    const auto at = static_cast<std::int64_t>(step) * 100;
    later.add(SpanKind::kStep, "host", "step", at, at + 100).step = step;
  }
  timeline_.add(later.spans());
  EXPECT_EQ(find_steps(timeline_, 3, 5)->first, 9u);
  EXPECT_FALSE(find_steps(timeline_, 4, 5));
}

TEST_F(ProfileTest, SpansThatOverlapTheWindowCountAsFarAsTheyLieInIt) {
  const Profile profile = profile_of(timeline_, {.first = 5, .last = 5, .begin_ns = 40, .end_ns = 55});
  const ComponentProfile& host = profile.components.at(0);
  ASSERT_EQ(host.parts.size(), 3u);
  EXPECT_EQ(host.parts[0].what, "forward");
  EXPECT_EQ(host.parts[0].ns, 10);
  EXPECT_EQ(host.parts[1].what, "backward");
  EXPECT_EQ(host.parts[1].ns, 5);
  EXPECT_EQ(host.idle_ns, 0);
}

}  // namespace
}  // namespace trainyard::timeline
