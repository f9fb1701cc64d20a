// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/evaluate_order.h"

#include <gtest/gtest.h>

#include "components/accelerator_host/host_fixture.h"

namespace trainyard::testing {
namespace {

TEST_F(AcceleratorHostTest, AnEvaluationGivesMeansWeightedBySamplesAndNoGradients) {
  start_ready();
  const Oracle expected = oracle();
  send("/orders", Order{.id = 1, .kind = OrderKind::kEvaluate, .split = "validate", .batches = 2});
  send("batches", batch(1, 0, 4, "validate"));
  send("batches", batch(1, 1, 1, "validate"));
  ASSERT_EQ(done(), 1u);
  const auto answer = rig_.received<OrderDone>("/order_done")[0];
  ASSERT_EQ(answer->metrics.size(), 2u);
  EXPECT_EQ(answer->metrics[0].name, "loss");
  const double loss = 4 * expected.loss(batch(1, 0)).item<double>() + expected.loss(batch(1, 1, 1)).item<double>();
  EXPECT_NEAR(answer->metrics[0].value, loss / 5, 1e-6);
  EXPECT_EQ(rig_.received<Metrics>("/metrics").at(0)->stage, "validate");
  EXPECT_EQ(view_of(arena_.blocks[1].data).abs().sum().item<float>(), 0);
  EXPECT_EQ(gradients(), 0u);
}

TEST_F(AcceleratorHostTest, AnEvaluationWithoutBatchesIsDoneAtOnceAndMeasuresNothing) {
  start_ready();
  send("/orders", Order{.id = 1, .kind = OrderKind::kEvaluate, .split = "validate"});
  ASSERT_EQ(done(), 1u);
  EXPECT_TRUE(rig_.received<OrderDone>("/order_done")[0]->metrics.empty());
  EXPECT_TRUE(rig_.received<Metrics>("/metrics").empty());
}

TEST_F(AcceleratorHostTest, AnEvaluationThatAStopOvertakesLeavesNothingForTheNext) {
  start_ready();
  const Oracle expected = oracle();
  send("/orders", Order{.id = 1, .kind = OrderKind::kEvaluate, .split = "validate", .batches = 2});
  send("batches", batch(1, 0, 4, "validate"));
  send("/orders", Order{.id = 2, .kind = OrderKind::kStop});
  send("/orders", Order{.id = 3, .kind = OrderKind::kEvaluate, .split = "validate", .batches = 1});
  send("batches", batch(3, 5, 4, "validate"));
  ASSERT_EQ(done(), 2u);
  const auto answer = rig_.received<OrderDone>("/order_done")[1];
  EXPECT_EQ(answer->samples, 4u);
  EXPECT_NEAR(answer->metrics.at(0).value, expected.loss(batch(3, 5)).item<double>(), 1e-6);
}

}  // namespace
}  // namespace trainyard::testing
