// SPDX-License-Identifier: Apache-2.0
#include "core/transport/stranger_queues.h"

#include <gtest/gtest.h>

namespace trainyard::core {
namespace {

using namespace std::chrono_literals;
using State = Stranger::State;

struct StrangerQueuesTest : ::testing::Test {
  Stranger& add(std::chrono::seconds at = 0s) { return queues.add(FileDescriptor(), start + at); }
  Stranger& add_waiting(std::chrono::seconds at = 0s) {
    Stranger& stranger = add(at);
    queues.enqueue(stranger, start + at);
    return stranger;
  }

  const StrangerQueues::Clock::time_point start = StrangerQueues::Clock::now();
  StrangerQueues queues{60s};
};

TEST_F(StrangerQueuesTest, TurnsComeInTheOrderInWhichTheOpeningsWereComplete) {
  Stranger& first = add();
  Stranger& second = add();
  queues.enqueue(second, start);
  queues.enqueue(first, start);
  EXPECT_EQ(&queues.next(), &second);
  queues.begin_next();
  EXPECT_EQ(second.state, State::kExamined);
  EXPECT_EQ(&queues.next(), &first);
  EXPECT_EQ(queues.waiting(), 1U);
}

TEST_F(StrangerQueuesTest, AStrangerThatHasEndedGetsNoTurn) {
  Stranger& first = add_waiting();
  Stranger& second = add_waiting();
  queues.end(first);
  EXPECT_EQ(first.state, State::kOver);
  EXPECT_EQ(&queues.next(), &second);
  EXPECT_EQ(queues.waiting(), 1U);
}

TEST_F(StrangerQueuesTest, CountsOnlyThoseWhoseOpeningIsNotCompleteAsOpening) {
  Stranger& first = add();
  Stranger& second = add();
  EXPECT_EQ(queues.opening(), 2U);
  EXPECT_EQ(&queues.oldest_opening(), &first);
  queues.enqueue(first, start);
  EXPECT_EQ(queues.opening(), 1U);
  EXPECT_EQ(&queues.oldest_opening(), &second);
}

TEST_F(StrangerQueuesTest, FindsThoseWhoseTimeHasEndedInEveryState) {
  Stranger& examined = add_waiting();
  queues.begin_next();
  Stranger& waiting = add_waiting(1s);
  Stranger& opening = add(2s);
  EXPECT_EQ(queues.late(start + 59s), nullptr);
  EXPECT_EQ(queues.late(start + 60s), &examined);
  queues.end(examined);
  EXPECT_EQ(queues.late(start + 60s), nullptr);
  EXPECT_EQ(queues.late(start + 61s), &waiting);
  queues.end(waiting);
  EXPECT_EQ(queues.late(start + 62s), &opening);
  queues.end(opening);
  EXPECT_EQ(queues.late(start + 1h), nullptr);
}

TEST_F(StrangerQueuesTest, ACompleteOpeningGivesTheSameTimeAgain) {
  Stranger& first = add();
  add(10s);
  EXPECT_EQ(queues.first_deadline(), start + 60s);
  queues.enqueue(first, start + 30s);
  EXPECT_EQ(queues.first_deadline(), start + 70s);  // That of the other one.
  queues.end(queues.oldest_opening());
  EXPECT_EQ(queues.first_deadline(), start + 90s);
  queues.end(first);
  EXPECT_EQ(queues.first_deadline(), std::nullopt);
}

TEST_F(StrangerQueuesTest, KeepsAStrangerThatHasEndedUntilItIsForgotten) {
  Stranger& stranger = add();
  stranger.heard = "greeting";
  queues.end(stranger);
  EXPECT_EQ(queues.over(), 1U);
  EXPECT_EQ(stranger.heard, "greeting");
  queues.forget_over();
  EXPECT_EQ(queues.over(), 0U);
}

}  // namespace
}  // namespace trainyard::core
