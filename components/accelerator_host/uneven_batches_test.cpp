// SPDX-License-Identifier: Apache-2.0
// Tests a rank that has fewer samples than the other ranks. tests/numerics tests several such ranks together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "components/accelerator_host/host_fixture.h"

namespace trainyard::testing {
namespace {

class UnevenBatchesTest : public AcceleratorHostTest {
 protected:
  static Batch empty(std::uint64_t order, std::uint64_t index, const std::string& split = "train") {
    return batch(order, index, 0, split);
  }
};

TEST_F(UnevenBatchesTest, AStepWithoutSamplesChangesNothingAndIsCounted) {
  start_ready(R"(, "log_every_steps": 1)");
  send("/orders", train(1, 1));
  Batch nothing = empty(1, 0);
  nothing.world_samples = 3;
  send("batches", nothing);
  ASSERT_EQ(gradients(), 1u) << "the optimizers of all ranks work in step";
  EXPECT_EQ(view_of(arena_.blocks[1].data).abs().sum().item<float>(), 0);
  answer(1);
  ASSERT_EQ(done(), 1u);
  const auto answered = rig_.received<OrderDone>("/order_done")[0];
  EXPECT_EQ(answered->step, 1u);
  EXPECT_EQ(answered->batches, 1u);
  EXPECT_EQ(answered->samples, 0u);
  EXPECT_EQ(answered->cursor.samples, 1u);
  for (const Scalar& value : rig_.received<Metrics>("/metrics").at(0)->values) EXPECT_NE(value.name, "loss");
}

TEST_F(UnevenBatchesTest, AMicroBatchWithoutSamplesLeavesTheOthersTheirShare) {
  start_ready(R"(, "log_every_steps": 1)");
  const Oracle expected = oracle();
  send("/orders", train(1, 2, 2));
  send("batches", batch(1, 0));
  send("batches", empty(1, 1));
  const at::Tensor loss = expected.loss(batch(1, 0));
  loss.backward();
  expect_gradients(expected, 0.5);
  answer(1);
  EXPECT_NEAR(rig_.received<Metrics>("/metrics").at(0)->values.at(0).value, loss.item<double>(), 1e-6);
}

TEST_F(UnevenBatchesTest, ABatchWeighsAsItsShareOfTheSamplesOfAllRanks) {
  start_ready();
  const Oracle expected = oracle();
  send("/orders", train(1, 1));
  Batch part = batch(1, 0);
  part.world_samples = 5 * part.samples;
  send("batches", part);
  expected.loss(batch(1, 0)).backward();
  expect_gradients(expected, 0.2);
}

TEST_F(UnevenBatchesTest, AnEvaluationIsThatOfTheBatchesThatHaveSamples) {
  start_ready();
  const Oracle expected = oracle();
  send("/orders", Order{.id = 1, .kind = OrderKind::kEvaluate, .split = "validate", .batches = 3});
  send("batches", empty(1, 0, "validate"));
  send("batches", batch(1, 1, 4, "validate"));
  send("batches", empty(1, 2, "validate"));
  ASSERT_EQ(done(), 1u);
  const auto answered = rig_.received<OrderDone>("/order_done")[0];
  EXPECT_EQ(answered->samples, 4u);
  EXPECT_EQ(answered->batches, 3u);
  EXPECT_NEAR(answered->metrics.at(0).value, expected.loss(batch(1, 1)).item<double>(), 1e-6);
}

TEST_F(UnevenBatchesTest, AnEvaluationOfNoSamplesHasNoNumbers) {
  start_ready();
  send("/orders", Order{.id = 1, .kind = OrderKind::kEvaluate, .split = "validate", .batches = 2});
  send("batches", empty(1, 0, "validate"));
  send("batches", empty(1, 1, "validate"));
  ASSERT_EQ(done(), 1u);
  EXPECT_TRUE(rig_.received<OrderDone>("/order_done")[0]->metrics.empty());
}

TEST_F(UnevenBatchesTest, NothingIsPredictedOfNoSamples) {
  start_ready();
  send("/orders", Order{.id = 1, .kind = OrderKind::kPredict, .split = "predict", .batches = 2});
  send("batches", batch(1, 0, 4, "predict"));
  send("batches", empty(1, 1, "predict"));
  EXPECT_EQ(rig_.received<Prediction>("/predictions").size(), 1u);
  EXPECT_EQ(done(), 1u);
}

TEST_F(UnevenBatchesTest, ADeviceWithMemoryOfItsOwnIsGivenNoEmptyBatch) {
  start_ready(R"(, "accelerator": {"plugin": "simulated"})");
  send("/orders", train(1, 3));
  send("batches", batch(1, 0));
  send("batches", empty(1, 1));
  for (std::uint64_t step = 1; step <= 2; ++step) answer(step);
  const Oracle expected = oracle();
  send("batches", batch(1, 2));
  expected.loss(batch(1, 2)).backward();
  expect_gradients(expected);
}

}  // namespace
}  // namespace trainyard::testing
