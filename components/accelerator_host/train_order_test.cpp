// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/train_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "components/accelerator_host/host_fixture.h"

namespace trainyard::testing {
namespace {

TEST_F(AcceleratorHostTest, AStepLeavesTheGradientsOfTheFormulaInTheArena) {
  start_ready();
  const Oracle expected = oracle();
  send("/orders", train(1, 2));
  send("batches", batch(1, 0));
  expected.loss(batch(1, 0)).backward();
  expect_gradients(expected);
  const auto sent = rig_.received<Gradients>("gradients");
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0]->step, 1u);
  EXPECT_EQ(sent[0]->scale, 1);
}

TEST_F(AcceleratorHostTest, NoBatchIsUsedWhileTheOptimizerWorks) {
  start_ready();
  send("/orders", train(1, 3));
  for (int i = 0; i < 3; ++i) send("batches", batch(1, i));
  EXPECT_EQ(gradients(), 1u);
  answer(1);
  EXPECT_EQ(gradients(), 2u);
  answer(2);
  EXPECT_EQ(gradients(), 3u);
  EXPECT_EQ(done(), 0u);
  answer(3);
  ASSERT_EQ(done(), 1u);
  const auto answer = rig_.received<OrderDone>("/order_done")[0];
  EXPECT_EQ(answer->order, 1u);
  EXPECT_EQ(answer->step, 3u);
  EXPECT_EQ(answer->batches, 3u);
  EXPECT_EQ(answer->samples, 12u);
  EXPECT_EQ(answer->cursor.samples, 3u);
}

TEST_F(AcceleratorHostTest, MicroBatchesAddUpToTheirMean) {
  start_ready();
  const Oracle expected = oracle();
  send("/orders", train(1, 3, 3));
  for (int i = 0; i < 3; ++i) {
    send("batches", batch(1, i));
    expected.loss(batch(1, i)).backward();
  }
  ASSERT_EQ(gradients(), 1u);
  expect_gradients(expected, 1.0 / 3);
}

TEST_F(AcceleratorHostTest, TheLastStepOfAnOrderMayHaveFewerMicroBatches) {
  start_ready();
  send("/orders", train(1, 5, 3));
  for (int i = 0; i < 3; ++i) send("batches", batch(1, i));
  answer(1);
  const Oracle expected = oracle();
  for (int i = 3; i < 5; ++i) {
    send("batches", batch(1, i));
    expected.loss(batch(1, i)).backward();
  }
  ASSERT_EQ(gradients(), 2u);
  expect_gradients(expected, 1.0 / 2);
  answer(2);
  EXPECT_EQ(rig_.received<OrderDone>("/order_done")[0]->step, 2u);
}

TEST_F(AcceleratorHostTest, ClippingByNormGoesOutAsAScale) {
  start_ready(R"(, "clip_norm": 0.01)");
  const Oracle expected = oracle();
  send("/orders", train(1, 1));
  send("batches", batch(1, 0));
  expected.loss(batch(1, 0)).backward();
  double squares = 0;
  for (const at::Tensor& one : expected.parameters) squares += std::pow(one.grad().norm().item<double>(), 2);
  const auto sent = rig_.received<Gradients>("gradients").at(0);
  EXPECT_NEAR(sent->norm, std::sqrt(squares), 1e-6);
  EXPECT_NEAR(sent->scale, 0.01 / (std::sqrt(squares) + 1e-6), 1e-7);
  expect_gradients(expected);
}

TEST_F(AcceleratorHostTest, GradientsBelowTheNormAreNotScaled) {
  start_ready(R"(, "clip_norm": 1000)");
  send("/orders", train(1, 1));
  send("batches", batch(1, 0));
  EXPECT_EQ(rig_.received<Gradients>("gradients").at(0)->scale, 1);
}

TEST_F(AcceleratorHostTest, ClippingByValueHappensInPlace) {
  start_ready(R"(, "clip_value": 0.01)");
  send("/orders", train(1, 1));
  send("batches", batch(1, 0));
  const at::Tensor gradients = view_of(arena_.blocks[1].data);
  EXPECT_FLOAT_EQ(gradients.max().item<float>(), 0.01F);
  EXPECT_FLOAT_EQ(gradients.min().item<float>(), -0.01F);
}

TEST_F(AcceleratorHostTest, AnOverflowEndsTheStepWithoutTheOptimizer) {
  start_ready(R"(, "precision": "16-mixed")");
  send("/orders", train(1, 2));
  Batch huge = batch(1, 0);
  std::ranges::fill(huge.tensors[0].as<float>(), 1e6F);
  send("batches", huge);
  EXPECT_EQ(gradients(), 0u);
  EXPECT_EQ(view_of(arena_.blocks[1].data).abs().sum().item<float>(), 0) << "they are dropped";
  send("batches", batch(1, 1));
  ASSERT_EQ(gradients(), 1u);
  EXPECT_EQ(rig_.received<Gradients>("gradients")[0]->step, 1u) << "a step that is skipped has no number";
  EXPECT_EQ(rig_.received<Gradients>("gradients")[0]->scale, 1.0 / 32768);
  answer(1);
  ASSERT_EQ(done(), 1u);
  EXPECT_EQ(rig_.received<OrderDone>("/order_done")[0]->step, 1u);
  EXPECT_EQ(rig_.received<OrderDone>("/order_done")[0]->batches, 2u);
}

TEST_F(AcceleratorHostTest, AnInfiniteLossStopsTheRunIfAnomaliesAreLookedFor) {
  start_ready(R"(, "detect_anomaly": true)");
  send("/orders", train(1, 1));
  Batch broken = batch(1, 0);
  broken.tensors[0].as<float>()[0] = INFINITY;
  try {
    send("batches", broken);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::ContainsRegex("the loss is -?nan in batch 0 of epoch 0 \\(train\\)"));
  }
}

TEST_F(AcceleratorHostTest, ATrainingOrderWithoutBatchesIsDoneAtOnce) {
  start_ready();
  send("/orders", train(1, 0));
  ASSERT_EQ(done(), 1u);
  EXPECT_EQ(rig_.received<OrderDone>("/order_done")[0]->step, 0u);
}

TEST_F(AcceleratorHostTest, ParametersThatNobodyWaitsForAreRefused) {
  start_ready();
  EXPECT_THAT([&] { answer(1); }, ::testing::ThrowsMessage<Error>(::testing::HasSubstr("none were wanted")));
}

TEST_F(AcceleratorHostTest, ParametersBeforeTheGradientsAreRefused) {
  start_ready();
  send("/orders", train(1, 2, 2));
  send("batches", batch(1, 0));
  EXPECT_THAT([&] { answer(1); },
              ::testing::ThrowsMessage<Error>(::testing::HasSubstr("while order 1 (train) waited for none")));
}

TEST_F(AcceleratorHostTest, ParametersOfAnotherStepAreRefused) {
  start_ready();
  send("/orders", train(1, 1));
  send("batches", batch(1, 0));
  EXPECT_THAT([&] { answer(2); }, ::testing::ThrowsMessage<Error>(::testing::HasSubstr(
                                      "parameters of step 2 came while order 1 (train) waited for those of step 1")));
}

TEST_F(AcceleratorHostTest, ABatchOfAnotherOrderIsRefused) {
  start_ready();
  send("/orders", train(1, 2));
  EXPECT_THAT([&] { send("batches", batch(2, 0)); },
              ::testing::ThrowsMessage<Error>(
                  ::testing::HasSubstr("a batch of order 2 came while order 1 (train) had 0 of 2 batches")));
}

}  // namespace
}  // namespace trainyard::testing
