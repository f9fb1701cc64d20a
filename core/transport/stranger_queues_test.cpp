// SPDX-License-Identifier: Apache-2.0
#include "core/transport/stranger_queues.h"

#include <gtest/gtest.h>

namespace trainyard::core {
namespace {

using namespace std::chrono_literals;
using State = Stranger::State;

struct StrangerQueuesTest : ::testing::Test {
  Stranger& add() { return queues.add(FileDescriptor()); }
  Stranger& add_waiting() {
    Stranger& stranger = add();
    queues.enqueue(stranger);
    return stranger;
  }
  static auto after_all() { return StrangerQueues::Clock::now() + 1h; }

  StrangerQueues queues{1min};
};

TEST_F(StrangerQueuesTest, turns_come_in_the_order_in_which_the_openings_were_complete) {
  Stranger& first = add();
  Stranger& second = add();
  queues.enqueue(second);
  queues.enqueue(first);
  EXPECT_EQ(&queues.next(), &second);
  queues.begin_next();
  EXPECT_EQ(second.state, State::kExamined);
  EXPECT_EQ(&queues.next(), &first);
  EXPECT_EQ(queues.waiting(), 1U);
}

TEST_F(StrangerQueuesTest, a_stranger_that_has_ended_gets_no_turn) {
  Stranger& first = add_waiting();
  Stranger& second = add_waiting();
  queues.end(first);
  EXPECT_EQ(first.state, State::kOver);
  EXPECT_EQ(&queues.next(), &second);
  EXPECT_EQ(queues.waiting(), 1U);
}

TEST_F(StrangerQueuesTest, counts_only_those_whose_opening_is_not_complete_as_opening) {
  Stranger& oldest = add();
  add();
  EXPECT_EQ(queues.opening(), 2U);
  EXPECT_EQ(&queues.oldest_opening(), &oldest);
  queues.enqueue(oldest);
  EXPECT_EQ(queues.opening(), 1U);
  EXPECT_NE(&queues.oldest_opening(), &oldest);
}

TEST_F(StrangerQueuesTest, finds_everybody_whose_time_has_ended_in_every_state) {
  add();
  add_waiting();
  Stranger& examined = add_waiting();
  queues.end(queues.next());
  queues.begin_next();
  EXPECT_EQ(examined.state, State::kExamined);
  EXPECT_EQ(queues.late(StrangerQueues::Clock::now()), nullptr);
  int ended = 0;
  while (Stranger* late = queues.late(after_all())) {
    queues.end(*late);
    ++ended;
  }
  EXPECT_EQ(ended, 2);
  EXPECT_FALSE(queues.first_deadline());
}

TEST_F(StrangerQueuesTest, a_complete_opening_gives_the_same_time_again) {
  Stranger& first = add();
  const auto deadline = first.last;
  add();
  queues.enqueue(first);
  EXPECT_GE(first.last, deadline);
  ASSERT_TRUE(queues.first_deadline());
  EXPECT_EQ(*queues.first_deadline(), queues.oldest_opening().last);
}

TEST_F(StrangerQueuesTest, keeps_a_stranger_that_has_ended_until_it_is_forgotten) {
  Stranger& stranger = add();
  stranger.heard = "greeting";
  queues.end(stranger);
  EXPECT_EQ(stranger.heard, "greeting");  // Freed memory would be reported by the address sanitizer.
  EXPECT_EQ(queues.opening(), 0U);
  queues.forget_over();
}

}  // namespace
}  // namespace trainyard::core
