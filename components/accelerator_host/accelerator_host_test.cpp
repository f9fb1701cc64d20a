#include "components/accelerator_host/accelerator_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "components/accelerator_host/host_fixture.h"
#include "tensors/version.h"

// Start, steps and parameters; orders_test.cpp has the other orders.
namespace trainyard::testing {
namespace {

TEST_F(AcceleratorHostTest, IsReadyWhenOptimizerAndCheckpointWriterAre) {
  start();
  EXPECT_EQ(arena_.model, "mlp");
  EXPECT_EQ(arena_.entries.size(), 4u);
  send("parameters", Parameters{.step = 0});
  EXPECT_TRUE(rig_.received<ModelInfo>("/model").empty()) << "parameters may still be restored";
  send("/run_state", RunState{});
  const auto infos = rig_.received<ModelInfo>("/model");
  ASSERT_EQ(infos.size(), 1u);
  EXPECT_EQ(infos[0]->parameters, 6u * 5 + 5 + 5 * 3 + 3);
  EXPECT_EQ(infos[0]->device, "cpu");
  EXPECT_EQ(infos[0]->precision, "32-true");
}

TEST_F(AcceleratorHostTest, TheSameSeedGivesTheSameParameters) {
  start();
  Rig other;
  other.add<AcceleratorHost>("accelerator_host", std::string("{") + kMlp + "}");
  other.start();
  DatasetInfo data;
  data.fields = {{"input", 7, {6}}, {"target", 4, {}}};
  data.classes = 3;
  other.send("dataset", data);
  other.run_until_idle();
  const auto info = other.received<ArenaInfo>("arena").at(0);
  EXPECT_TRUE(view_of(info->blocks[0].data).equal(view_of(arena_.blocks[0].data)));
}

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
  EXPECT_EQ(answer->cursor.batch, 3u);
}

TEST_F(AcceleratorHostTest, BatchesBeforeTheirOrderWait) {
  start_ready();
  send("batches", batch(1, 0));
  EXPECT_EQ(gradients(), 0u);
  send("/orders", train(1, 1));
  EXPECT_EQ(gradients(), 1u);
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

std::string text_of_configuring(const std::string& parameters) {
  Rig rig;
  try {
    rig.add<AcceleratorHost>("accelerator_host", parameters);
    rig.start();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(AcceleratorHostParametersTest, WhatIsNotThereIsRefusedBeforeTheRun) {
  EXPECT_THAT(text_of_configuring(std::string("{") + kMlp + R"(, "precision": "fp8"})"),
              ::testing::HasSubstr("64-true, 32-true, bf16-mixed, 16-mixed, bf16-true, 16-true"));
  if (!kHalfOnCpu) {
    EXPECT_THAT(text_of_configuring(std::string("{") + kMlp + R"(, "precision": "16-true"})"),
                ::testing::HasSubstr("precision '16-true' is not supported by accelerator 'cpu'; it has: 64-true, "
                                     "32-true, bf16-mixed, 16-mixed, bf16-true"));
  }
  EXPECT_THAT(text_of_configuring(R"({"model": "mpl"})"), ::testing::HasSubstr("did you mean 'mlp'"));
  EXPECT_THAT(text_of_configuring(R"({"model": {"plugin": "mlp", "hiden": [3]}})"),
              ::testing::HasSubstr("did you mean 'hidden'"));
  EXPECT_THAT(text_of_configuring(std::string("{") + kMlp + R"(, "devices": "none"})"),
              ::testing::HasSubstr("devices = 'none'"));
}

}  // namespace
}  // namespace trainyard::testing
