// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/train_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "components/accelerator_host/host_fixture.h"
#include "core/edge/edge.h"

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
  EXPECT_EQ(rig_.received<OrderDone>("/order_done")[0]->all_steps, 2u);
  EXPECT_EQ(rig_.received<OrderDone>("/order_done")[0]->batches, 2u);
}

/// Changes the batch so that its loss is not finite.
Batch broken(Batch batch) {
  batch.tensors[0].as<float>()[0] = INFINITY;
  return batch;
}

TEST_F(AcceleratorHostTest, ALossThatIsNotFiniteStopsTheRunBeforeTheUpdate) {
  start_ready();
  send("/orders", train(1, 3));
  send("batches", batch(1, 0));
  answer(1);
  EXPECT_THAT([&] { send("batches", broken(batch(1, 1))); },
              ::testing::ThrowsMessage<Error>(
                  ::testing::HasSubstr("the loss is nan in step 2, batch 1 of epoch 0 (train); it must be finite")));
  EXPECT_EQ(gradients(), 1u);
}

TEST_F(AcceleratorHostTest, AStepWhoseLossIsNotFiniteIsSkippedIfThatIsWanted) {
  start_ready(R"(, "on_nan": "skip")");
  send("/orders", train(1, 2, 1));
  send("batches", broken(batch(1, 0)));
  EXPECT_EQ(gradients(), 0u);
  EXPECT_EQ(view_of(arena_.blocks[1].data).abs().sum().item<float>(), 0) << "they are dropped";
  send("batches", batch(1, 1));
  ASSERT_EQ(gradients(), 1u);
  EXPECT_EQ(rig_.received<Gradients>("gradients")[0]->step, 1u);
  EXPECT_EQ(rig_.received<Gradients>("gradients")[0]->scale, 1);
}

TEST_F(AcceleratorHostTest, ALossThatIsFiniteIsNotChangedBySkipping) {
  start_ready(R"(, "on_nan": "skip")");
  Oracle expected = oracle();
  send("/orders", train(1, 1));
  send("batches", batch(1, 0));
  expected.loss(batch(1, 0)).backward();
  expect_gradients(expected);
}

TEST_F(AcceleratorHostTest, StepsThatAreAllSkippedEndTheRun) {
  start_ready(R"(, "on_nan": "skip")");
  send("/orders", train(1, 200));
  EXPECT_THAT(
      [&] {
        for (std::uint64_t index = 0; index < 100; ++index) send("batches", broken(batch(1, index)));
      },
      ::testing::ThrowsMessage<Error>(::testing::HasSubstr("the gradients of 100 steps in a row are not finite")));
}

TEST_F(AcceleratorHostTest, ALossThatIsNotFiniteCanBeIgnored) {
  start_ready(R"(, "on_nan": "ignore")");
  send("/orders", train(1, 1));
  send("batches", broken(batch(1, 0)));
  EXPECT_EQ(gradients(), 1u);
}

TEST_F(AcceleratorHostTest, NoCheckpointIsTakenOfParametersThatAreNotFinite) {
  start_ready();
  view_of(arena_.blocks[0].data)[0].fill_(NAN);
  EXPECT_THAT([&] { send("/orders", Order{.id = 1, .kind = OrderKind::kCheckpoint}); },
              ::testing::ThrowsMessage<Error>(::testing::HasSubstr("parameters are not finite after step 0")));
  EXPECT_TRUE(rig_.received<Snapshot>("snapshot").empty());
}

TEST_F(AcceleratorHostTest, APauseKeepsTheOrderAndItsBatches) {
  start_ready();
  send("/orders", train(1, 4, 2));
  send("batches", batch(1, 0));
  send("/orders", Order{.id = 2, .kind = OrderKind::kPause});
  EXPECT_EQ(done(), 0u) << "a step has begun";
  send("batches", batch(1, 1));
  EXPECT_EQ(done(), 0u) << "the optimizer has its gradients";
  answer(1);
  ASSERT_EQ(done(), 1u);
  EXPECT_EQ(rig_.received<OrderDone>("/order_done")[0]->kind, OrderKind::kPause);
  EXPECT_EQ(rig_.received<OrderDone>("/order_done")[0]->step, 1u);
  send("batches", batch(1, 2));
  EXPECT_EQ(gradients(), 1u);
  send("/orders", Order{.id = 3, .kind = OrderKind::kGoOn});
  send("batches", batch(1, 3));
  EXPECT_EQ(gradients(), 2u);
  answer(2);
  EXPECT_EQ(done(), 2u);
}

TEST_F(AcceleratorHostTest, AStopEndsAPause) {
  start_ready();
  send("/orders", train(1, 4));
  send("/orders", Order{.id = 2, .kind = OrderKind::kPause});
  send("/orders", Order{.id = 3, .kind = OrderKind::kStop});
  ASSERT_EQ(done(), 2u);
  EXPECT_TRUE(rig_.received<OrderDone>("/order_done")[1]->stopped);
  send("/orders", Order{.id = 4, .kind = OrderKind::kCheckpoint, .reason = "interrupted"});
  EXPECT_EQ(rig_.received<Snapshot>("snapshot").size(), 1u);
}

TEST_F(AcceleratorHostTest, TheNextUpdateWaitsForTheReadersOfTheArena) {
  start_ready();
  set_readers(1);
  send("/orders", train(1, 2));
  send("batches", batch(1, 0));
  answer(1);
  ASSERT_EQ(rig_.received<ArenaReadable>("arena_readable").size(), 1u);
  EXPECT_EQ(rig_.received<ArenaReadable>("arena_readable")[0]->step, 1u);
  send("batches", batch(1, 1));
  EXPECT_EQ(gradients(), 1u) << "it is computed, but not handed over";
  send("arena_read", ArenaRead{.rank = 7, .step = 1});
  EXPECT_EQ(gradients(), 1u) << "that was the reader of another rank";
  send("arena_read", ArenaRead{.rank = 0, .step = 1});
  EXPECT_EQ(gradients(), 2u);
}

TEST_F(AcceleratorHostTest, AReaderThatHearsOnlyAnotherRankIsNotWaitedFor) {
  start_ready();
  set_readers(2);  // Two components answer, but only one of them receives ArenaReadable from this rank.
  send("/orders", train(1, 2));
  send("batches", batch(1, 0));
  answer(1);
  send("batches", batch(1, 1));
  EXPECT_EQ(gradients(), 1u);
  send("arena_read", ArenaRead{.rank = 0, .step = 1});
  EXPECT_EQ(gradients(), 2u);
}

TEST_F(AcceleratorHostTest, AReaderOfTheArenaThatHasDiedIsNotWaitedForUntilItIsRestarted) {
  rig_.set_window("arena_readable", 1);  // The reader takes the message of step 1 and then dies.
  start_ready();
  set_readers(1);
  send("/orders", train(1, 4));
  send("batches", batch(1, 0));
  answer(1);
  send("batches", batch(1, 1));
  EXPECT_EQ(gradients(), 1u);
  for (OutputBase* output : host_->outputs()) {
    if (output->name() != "arena_readable") continue;
    for (core::Edge* edge : output->edges()) edge->receiver_gone();
  }
  rig_.run_until_idle();
  EXPECT_EQ(gradients(), 2u) << "its answer can no longer come";
  answer(2);
  send("batches", batch(1, 2));
  EXPECT_EQ(gradients(), 3u) << "it is not waited for in later steps either";
  send("arena_read", ArenaRead{.rank = 0, .step = 1});  // The answer was on its way when the reader died.
  rig_.take("arena_readable", 10);                      // The reader has been restarted.
  answer(3);
  send("batches", batch(1, 3));
  EXPECT_EQ(gradients(), 3u);
  send("arena_read", ArenaRead{.rank = 0, .step = 3});
  EXPECT_EQ(gradients(), 4u);
}

TEST_F(AcceleratorHostTest, AnAnswerOfAReaderThatIsNotAwaitedIsAnError) {
  start_ready();
  set_readers(1);
  EXPECT_THAT([&] { send("arena_read", ArenaRead{.rank = 0, .step = 1}); },
              ::testing::ThrowsMessage<Error>(::testing::HasSubstr("0 answers to step 0 are awaited")));
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
