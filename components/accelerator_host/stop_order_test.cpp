// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/stop_order.h"

#include <gtest/gtest.h>

#include "components/accelerator_host/host_fixture.h"

namespace trainyard::testing {
namespace {

TEST_F(AcceleratorHostTest, AStopWaitsForTheStepUnderWayAndDropsTheRest) {
  start_ready();
  send("/orders", train(1, 10));
  send("/orders", Order{.id = 2, .kind = OrderKind::kEvaluate, .split = "validate", .batches = 3});
  send("batches", batch(1, 0));
  send("/orders", Order{.id = 3, .kind = OrderKind::kStop, .reason = "interrupted"});
  EXPECT_EQ(done(), 0u) << "the optimizer has not answered";
  answer(1);
  ASSERT_EQ(done(), 1u);
  const auto stopped = rig_.received<OrderDone>("/order_done")[0];
  EXPECT_EQ(stopped->order, 3u);
  EXPECT_TRUE(stopped->stopped);
  EXPECT_EQ(stopped->step, 1u);
  EXPECT_EQ(stopped->cursor.samples, 1u);
  send("batches", batch(1, 1));
  send("batches", batch(2, 0));
  EXPECT_EQ(gradients(), 1u) << "left over batches are dropped";
  send("/orders", train(4, 1));
  send("batches", batch(4, 1));
  EXPECT_EQ(gradients(), 2u);
}

TEST_F(AcceleratorHostTest, AStopGivesUpAHalfAccumulatedStep) {
  start_ready();
  send("/orders", train(1, 4, 4));
  send("batches", batch(1, 0));
  send("/orders", Order{.id = 2, .kind = OrderKind::kStop});
  EXPECT_EQ(done(), 1u);
  EXPECT_EQ(view_of(arena_.blocks[1].data).abs().sum().item<float>(), 0);
}

TEST_F(AcceleratorHostTest, TheAnswerToAStopSaysHowMuchOfTheOrderUnderWayWasUsed) {
  start_ready();
  send("/orders", train(1, 4, 4));
  for (int i = 0; i < 3; ++i) send("batches", batch(1, i));
  send("/orders", Order{.id = 2, .kind = OrderKind::kStop});
  const auto answer = rig_.received<OrderDone>("/order_done").at(0);
  EXPECT_EQ(answer->kind, OrderKind::kStop);
  EXPECT_EQ(answer->batches, 3u);
  EXPECT_EQ(answer->samples, 12u);
  EXPECT_EQ(answer->step, 0u);
  EXPECT_EQ(answer->cursor.samples, 0u) << "the step was not complete";
}

TEST_F(AcceleratorHostTest, AStopWithNothingUnderWayIsAnsweredAtOnce) {
  start_ready();
  send("/orders", Order{.id = 1, .kind = OrderKind::kStop});
  ASSERT_EQ(done(), 1u);
  EXPECT_TRUE(rig_.received<OrderDone>("/order_done")[0]->stopped);
}

}  // namespace
}  // namespace trainyard::testing
