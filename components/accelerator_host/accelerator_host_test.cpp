#include "components/accelerator_host/accelerator_host.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "core/testing/rig.h"
#include "messages/error.h"
#include "tensors/bridge.h"

namespace trainyard {
namespace {

using testing::Rig;

constexpr const char* kMlp =
    R"("model": {"plugin": "mlp", "hidden": [5]}, "accelerator": {"plugin": "cpu", "threads": "1"})";

/// The host alone; the test plays loader, optimizer, manager and checkpoint writer.
class AcceleratorHostTest : public ::testing::Test {
 protected:
  void start(const std::string& more = "") {
    rig_.add<AcceleratorHost>("accelerator_host", std::string("{") + kMlp + more + "}");
    rig_.start();
    DatasetInfo data;
    data.dataset = "made up";
    data.fields = {{"input", 7, {6}}, {"target", 4, {}}};
    data.classes = 3;
    data.unit = "sample";
    rig_.send("dataset", data);
    rig_.run_until_idle();
    arena_ = *rig_.received<ArenaInfo>("arena").at(0);
  }

  void start_ready(const std::string& more = "", const RunState& state = {}) {
    start(more);
    rig_.send("parameters", Parameters{.step = 0});
    rig_.send("/run_state", state);
    rig_.run_until_idle();
  }

  at::Tensor entry(const std::string& name, int block) const {
    for (const ArenaEntry& entry : arena_.entries) {
      if (entry.name != name) continue;
      return view_of(
          {DType::kFloat32, entry.shape, entry.offset_bytes, arena_.blocks[static_cast<size_t>(block)].data.buffer});
    }
    throw Error(Code::kNotFound, "no entry {}", name);
  }

  /// A batch of `samples` that every call with the same index makes alike.
  static Batch batch(std::uint64_t order, std::uint64_t index, std::int64_t samples = 4,
                     const std::string& split = "train") {
    Batch made{
        .order = order, .split = split, .epoch = 0, .index = index, .samples = static_cast<std::uint64_t>(samples)};
    made.next = {0, index + 1};
    Tensor input = Tensor::empty(DType::kFloat32, {samples, 6});
    Tensor target = Tensor::empty(DType::kInt64, {samples});
    for (std::size_t i = 0; i < input.as<float>().size(); ++i)
      input.as<float>()[i] = std::sin(static_cast<float>(i * 7 + index * 3));
    for (std::size_t i = 0; i < target.as<std::int64_t>().size(); ++i)
      target.as<std::int64_t>()[i] = static_cast<std::int64_t>((i + index) % 3);
    made.tensors = {input, target};
    return made;
  }

  /// Loss of a batch by the formula, with parameters that gather gradients of their own.
  struct Oracle {
    std::vector<at::Tensor> parameters;
    at::Tensor loss(const Batch& batch) const {
      const at::Tensor hidden = at::relu(at::linear(view_of(batch.tensors[0]), parameters[0], parameters[1]));
      return at::cross_entropy_loss(at::linear(hidden, parameters[2], parameters[3]), view_of(batch.tensors[1]));
    }
  };
  Oracle oracle() const {
    Oracle made;
    for (const ArenaEntry& one : arena_.entries) {
      made.parameters.push_back(entry(one.name, 0).clone().set_requires_grad(true));
    }
    return made;
  }

  void expect_gradients(const Oracle& expected, double factor = 1) const {
    for (std::size_t i = 0; i < arena_.entries.size(); ++i) {
      EXPECT_TRUE(entry(arena_.entries[i].name, 1).allclose(expected.parameters[i].grad() * factor, 1e-5, 1e-7))
          << arena_.entries[i].name;
    }
  }

  template <class T>
  void send(const std::string& topic, T message) {
    rig_.send(topic, std::move(message));
    rig_.run_until_idle();
  }

  /// What an optimizer that changes nothing would answer.
  void answer(std::uint64_t step) {
    view_of(arena_.blocks[1].data).zero_();
    send("parameters", Parameters{.step = step, .learning_rate = 0.5});
  }

  static Order train(std::uint64_t id, std::uint64_t batches, std::uint64_t micro_batches = 1) {
    return {.id = id, .kind = "train", .split = "train", .batches = batches, .micro_batches = micro_batches};
  }

  std::size_t gradients() const { return rig_.received<Gradients>("gradients").size(); }
  std::size_t done() const { return rig_.received<OrderDone>("/order_done").size(); }

  Rig rig_;
  ArenaInfo arena_;
};

std::optional<double> value(const Metrics& metrics, const std::string& name) {
  for (const Scalar& scalar : metrics.values) {
    if (scalar.name == name) return scalar.value;
  }
  return {};
}

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

std::string text_of_configuring(const std::string& parameters) {
  Rig rig;
  rig.add<AcceleratorHost>("accelerator_host", parameters);
  try {
    rig.start();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(AcceleratorHostParametersTest, WhatIsNotThereIsRefusedBeforeTheRun) {
  EXPECT_THAT(
      text_of_configuring(std::string("{") + kMlp + R"(, "precision": "bf16-mixed"})"),
      ::testing::HasSubstr("precision 'bf16-mixed' is not supported by accelerator 'cpu'; it has: 32-true (64-true, "
                           "16-mixed and bf16-mixed are coming)"));
  EXPECT_THAT(text_of_configuring(R"({"model": "mpl"})"), ::testing::HasSubstr("did you mean 'mlp'"));
  EXPECT_THAT(text_of_configuring(R"({"model": {"plugin": "mlp", "hiden": [3]}})"),
              ::testing::HasSubstr("did you mean 'hidden'"));
  EXPECT_THAT(text_of_configuring(std::string("{") + kMlp + R"(, "devices": "none"})"),
              ::testing::HasSubstr("devices = 'none'"));
}

}  // namespace
}  // namespace trainyard
