#include <ATen/ops/rand.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "components/accelerator_host/host_fixture.h"

namespace trainyard::testing {
namespace {

std::optional<double> value(const Metrics& metrics, const std::string& name) {
  for (const Scalar& scalar : metrics.values) {
    if (scalar.name == name) return scalar.value;
  }
  return {};
}

TEST_F(AcceleratorHostTest, MetricsComeEveryFewStepsWithTheLossOfThatStep) {
  start_ready(R"(, "log_every_steps": 2, "clip_norm": 5.0)");
  const Oracle expected = oracle();
  send("/orders", train(1, 8, 2));
  for (int i = 0; i < 8; ++i) {
    send("batches", batch(1, i));
    if (i % 2 == 1) answer((i + 1) / 2);
  }
  const auto metrics = rig_.received<Metrics>("/metrics");
  ASSERT_EQ(metrics.size(), 2u);
  EXPECT_EQ(metrics[0]->step, 2u);
  EXPECT_EQ(metrics[0]->stage, "train");
  EXPECT_EQ(metrics[0]->samples, 16u);
  EXPECT_EQ(value(*metrics[0], "learning_rate"), 0.5);
  EXPECT_GT(value(*metrics[0], "gradient_norm").value(), 0);
  EXPECT_GT(value(*metrics[0], "throughput").value(), 0);
  const double loss = (expected.loss(batch(1, 2)) + expected.loss(batch(1, 3))).item<double>() / 2;
  EXPECT_NEAR(value(*metrics[0], "loss").value(), loss, 1e-6);
}

TEST_F(AcceleratorHostTest, AnEvaluationGivesMeansWeightedBySamplesAndNoGradients) {
  start_ready();
  const Oracle expected = oracle();
  send("/orders", Order{.id = 1, .kind = "evaluate", .split = "validate", .batches = 2});
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

TEST_F(AcceleratorHostTest, GradientsWaitUntilTheSnapshotIsTaken) {
  start_ready();
  send("/orders", Order{.id = 1, .kind = "checkpoint", .reason = "interval"});
  send("/orders", train(2, 1));
  const auto asked = rig_.received<Snapshot>("snapshot");
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0]->reason, "interval");
  EXPECT_GT(asked[0]->rng.size(), 1000u);
  EXPECT_EQ(done(), 1u) << "the order is carried out when the snapshot is asked for";
  send("batches", batch(2, 0));
  EXPECT_EQ(gradients(), 0u);
  EXPECT_NE(view_of(arena_.blocks[1].data).abs().sum().item<float>(), 0) << "computing goes on meanwhile";
  send("snapshot_taken", SnapshotTaken{.order = 1});
  EXPECT_EQ(gradients(), 1u);
}

TEST_F(AcceleratorHostTest, TheLossScaleGoesIntoTheSnapshotAndComesBack) {
  start_ready(R"(, "precision": "16-mixed")", {.resumed = true, .host_state = {{"loss_scale", 128}}});
  send("/orders", Order{.id = 1, .kind = "checkpoint", .reason = "interval"});
  const auto state = rig_.received<Snapshot>("snapshot").at(0)->host_state;
  ASSERT_FALSE(state.empty());
  EXPECT_EQ(state[0].name, "loss_scale");
  EXPECT_EQ(state[0].value, 128);
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

TEST_F(AcceleratorHostTest, AStopWaitsForTheStepUnderWayAndDropsTheRest) {
  start_ready();
  send("/orders", train(1, 10));
  send("/orders", Order{.id = 2, .kind = "evaluate", .split = "validate", .batches = 3});
  send("batches", batch(1, 0));
  send("/orders", Order{.id = 3, .kind = "stop", .reason = "interrupted"});
  EXPECT_EQ(done(), 0u) << "the optimizer has not answered";
  answer(1);
  ASSERT_EQ(done(), 1u);
  const auto stopped = rig_.received<OrderDone>("/order_done")[0];
  EXPECT_EQ(stopped->order, 3u);
  EXPECT_TRUE(stopped->stopped);
  EXPECT_EQ(stopped->step, 1u);
  EXPECT_EQ(stopped->cursor.batch, 1u);
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
  send("/orders", Order{.id = 2, .kind = "stop"});
  EXPECT_EQ(done(), 1u);
  EXPECT_EQ(view_of(arena_.blocks[1].data).abs().sum().item<float>(), 0);
}

TEST_F(AcceleratorHostTest, AResumedRunCountsOn) {
  RunState state{.resumed = true, .step = 40, .epoch = 2, .samples = 1000, .cursor = {2, 7}};
  start();
  send("parameters", Parameters{.step = 0});
  send("/run_state", state);
  send("/orders", Order{.id = 1, .kind = "checkpoint"});
  const auto snapshot = rig_.received<Snapshot>("snapshot").at(0);
  EXPECT_EQ(snapshot->step, 40u);
  EXPECT_EQ(snapshot->samples, 1000u);
  EXPECT_EQ(snapshot->cursor.batch, 7u);
  send("snapshot_taken", SnapshotTaken{});
  send("/orders", train(2, 1));
  send("batches", batch(2, 7));
  EXPECT_EQ(rig_.received<Gradients>("gradients").at(0)->step, 41u);
}

TEST_F(AcceleratorHostTest, TheRandomStateOfACheckpointIsRestored) {
  start_ready();
  send("/orders", Order{.id = 1, .kind = "checkpoint"});
  const std::vector<std::uint8_t> state = rig_.received<Snapshot>("snapshot").at(0)->rng;
  const at::Tensor drawn = at::rand({4});
  Rig other;
  other.add<AcceleratorHost>("accelerator_host", std::string("{") + kMlp + "}");
  other.start();
  DatasetInfo data;
  data.fields = {{"input", 7, {6}}, {"target", 4, {}}};
  data.classes = 3;
  other.send("dataset", data);
  other.send("parameters", Parameters{.step = 0});
  other.send("/run_state", RunState{.resumed = true, .rng = state});
  other.run_until_idle();
  EXPECT_TRUE(at::rand({4}).equal(drawn));
}

TEST_F(AcceleratorHostTest, PredictionsComeBatchByBatch) {
  start_ready();
  send("/orders", Order{.id = 1, .kind = "predict", .split = "predict", .batches = 2});
  send("batches", batch(1, 0, 4, "predict"));
  send("batches", batch(1, 1, 2, "predict"));
  const auto said = rig_.received<Prediction>("/predictions");
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0]->order, 1u);
  EXPECT_EQ(said[1]->tensors[0].elements(), 2);
  EXPECT_EQ(done(), 1u);
}

TEST_F(AcceleratorHostTest, WhatAModelCannotDoIsAnErrorThatNamesIt) {
  start_ready();
  try {
    send("/orders", Order{.id = 1, .kind = "predict", .split = "predict"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("model 'mlp' of component 'accelerator_host' classifies samples"));
  }
}

TEST_F(AcceleratorHostTest, AnUnknownKindOfOrderIsAnError) {
  start_ready();
  EXPECT_THROW(send("/orders", Order{.id = 1, .kind = "dance"}), Error);
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

}  // namespace
}  // namespace trainyard::testing
