// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/open_orders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "messages/error.h"

namespace trainyard::manager {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Task task_of(OrderKind kind, Purpose purpose = Purpose::kPlanned) {
  return {.order = {.kind = kind}, .purpose = purpose};
}

OrderDone answer(std::uint64_t order, std::uint32_t rank, std::uint64_t all_steps = 1, std::uint64_t skipped = 0) {
  return {.order = order, .rank = rank, .step = all_steps - skipped, .all_steps = all_steps};
}

TEST(OpenOrdersTest, IdsCountUpWithoutGapsWhoeverTakesThem) {
  OpenOrders orders(1);
  EXPECT_EQ(orders.open(task_of(OrderKind::kTrain)).id, 1u);
  EXPECT_EQ(orders.next_id(), 2u);
  EXPECT_EQ(orders.next_id(), 2u) << "asking takes nothing";
  EXPECT_EQ(orders.take_id(), 2u);
  EXPECT_EQ(orders.open(task_of(OrderKind::kTrain)).id, 3u);
  EXPECT_EQ(orders.size(), 2u) << "an id that was taken is not an open order";
}

TEST(OpenOrdersTest, AnOrderIsClosedByTheAnswerOfTheLastRank) {
  OpenOrders orders(2);
  orders.open({.order = {.kind = OrderKind::kCheckpoint}, .reason = CheckpointReason::kFinal});
  EXPECT_FALSE(orders.answered(answer(1, 1)).has_value());
  EXPECT_FALSE(orders.empty());
  const auto closed = orders.answered(answer(1, 0));
  ASSERT_TRUE(closed.has_value());
  EXPECT_EQ(closed->task.order.id, 1u);
  EXPECT_EQ(closed->task.reason, CheckpointReason::kFinal);
  EXPECT_TRUE(closed->measured.empty()) << "only evaluations measure";
  EXPECT_TRUE(orders.empty());
}

TEST(OpenOrdersTest, TheAnswersToAnEvaluationAreKeptByRank) {
  OpenOrders orders(2);
  orders.open(task_of(OrderKind::kEvaluate));
  OrderDone second = answer(1, 1), first = answer(1, 0);
  second.samples = 5;
  first.samples = 7;
  orders.answered(second);
  const auto closed = orders.answered(first);
  ASSERT_TRUE(closed.has_value());
  ASSERT_EQ(closed->measured.size(), 2u);
  EXPECT_EQ(closed->measured.at(0).samples, 7u);
  EXPECT_EQ(closed->measured.at(1).samples, 5u);
}

TEST(OpenOrdersTest, RanksThatAnswerAfterDifferentNumbersOfStepsAreAnError) {
  OpenOrders orders(2);
  orders.open(task_of(OrderKind::kTrain));
  orders.answered(answer(1, 0, 8));
  EXPECT_THAT([&] { orders.answered(answer(1, 1, 9)); },
              ThrowsMessage<Error>(HasSubstr("ranks disagree about order 1 (train): one has made or skipped 8 steps, "
                                             "another 9 (it is at step 9)")));
}

TEST(OpenOrdersTest, RanksMaySkipStepsIndependentlyOfEachOther) {
  OpenOrders orders(2);
  orders.open(task_of(OrderKind::kTrain));
  orders.answered(answer(1, 0, 8));
  EXPECT_TRUE(orders.answered(answer(1, 1, 8, 3)).has_value()) << "rank 1 is at step 5";
}

TEST(OpenOrdersTest, AnAnswerToAnOrderThatIsNotOpenIsAnError) {
  OpenOrders orders(1);
  orders.open(task_of(OrderKind::kTrain));
  orders.drop();
  EXPECT_TRUE(orders.empty());
  EXPECT_THAT([&] { orders.answered(answer(1, 0)); }, ThrowsMessage<Error>(HasSubstr("it is not open")));
}

TEST(OpenOrdersTest, KnowsWhichEvaluationsAreOpen) {
  OpenOrders orders(1);
  orders.open(task_of(OrderKind::kTrain, Purpose::kPlanned));
  EXPECT_FALSE(orders.has_evaluation());
  orders.open(task_of(OrderKind::kEvaluate, Purpose::kRequested));
  EXPECT_TRUE(orders.has_evaluation());
  EXPECT_TRUE(orders.has_evaluation(Purpose::kRequested));
  EXPECT_FALSE(orders.has_evaluation(Purpose::kPlanned));
}

}  // namespace
}  // namespace trainyard::manager
