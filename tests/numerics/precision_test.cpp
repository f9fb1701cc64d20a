// SPDX-License-Identifier: Apache-2.0
// Compares runs in every precision with training loops in plain LibTorch.
#include <torch/types.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <gtest/gtest.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <cmath>
#include <functional>
#include <memory>

#include "tensors/bridge.h"
#include "tests/numerics/mini_run.h"

namespace trainyard::testing {
namespace {

constexpr int kFeatures = 20;
constexpr int kClasses = 7;
const std::vector<const char*> kNames{"layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias"};

std::string mlp(const std::string& precision, const std::string& more = "") {
  return R"("model": {"plugin": "mlp", "hidden": [16]}, "precision": ")" + precision + "\"" + more;
}

std::vector<Batch> batches(int count) {
  std::vector<Batch> all;
  for (int i = 0; i < count; ++i)
    all.push_back(made_up_batch(static_cast<std::uint64_t>(i % 6), 8, kFeatures, kClasses));
  return all;
}

std::vector<at::Tensor> parameters_of(const MiniRun& run) {
  std::vector<at::Tensor> leaves;
  for (const char* name : kNames) leaves.push_back(run.parameter(name).set_requires_grad(true));
  return leaves;
}

/// Returns the loss of the perceptron. Weights and inputs are converted to `type` before the computation; the loss is
/// computed in float32 or a wider type.
at::Tensor loss_in(at::ScalarType type, const std::vector<at::Tensor>& leaves, const Batch& batch) {
  const auto layer = [&](const at::Tensor& x, std::size_t i) {
    return at::linear(x.to(type), leaves[i].to(type), leaves[i + 1].to(type));
  };
  const at::Tensor logits = layer(at::relu(layer(view_of(batch.tensors[0]), 0)), 2);
  return at::cross_entropy_loss(type == at::kDouble ? logits : logits.to(at::kFloat), view_of(batch.tensors[1]));
}

using Rule = std::function<std::unique_ptr<torch::optim::Optimizer>(std::vector<at::Tensor>)>;

/// Trains the parameters `leaves` with a loop in plain LibTorch, and returns the losses.
std::vector<double> bare_losses(const std::vector<at::Tensor>& leaves, const std::vector<Batch>& all,
                                at::ScalarType type, const Rule& rule) {
  const auto optimizer = rule(leaves);
  std::vector<double> losses;
  for (const Batch& batch : all) {
    optimizer->zero_grad();
    const at::Tensor loss = loss_in(type, leaves, batch);
    loss.backward();
    optimizer->step();
    losses.push_back(loss.item<double>());
  }
  return losses;
}

std::unique_ptr<torch::optim::Optimizer> adamw(std::vector<at::Tensor> leaves) {
  return std::make_unique<torch::optim::AdamW>(leaves, torch::optim::AdamWOptions(0.01).weight_decay(0.1));
}
constexpr const char* kAdamW = R"({"rule": "adamw", "lr": 0.01, "weight_decay": 0.1})";

std::unique_ptr<torch::optim::Optimizer> momentum(std::vector<at::Tensor> leaves) {
  return std::make_unique<torch::optim::SGD>(leaves, torch::optim::SGDOptions(0.05).momentum(0.9).weight_decay(0.01));
}
constexpr const char* kMomentum = R"({"rule": "sgd", "lr": 0.05, "momentum": 0.9, "weight_decay": 0.01})";

bool fuses_multiply_add() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("fma") != 0;
#else
  return true;
#endif
}

void expect_the_same_bits_in_double(const char* optimizer, const Rule& rule) {
  MiniRun run(mlp("64-true"), optimizer, made_up_data(kFeatures, kClasses));
  const std::vector<at::Tensor> leaves = parameters_of(run);
  ASSERT_EQ(leaves[0].scalar_type(), at::kDouble);
  const auto all = batches(40);
  EXPECT_EQ(run.train(all), bare_losses(leaves, all, at::kDouble, rule));
  for (std::size_t i = 0; i < kNames.size(); ++i) EXPECT_TRUE(run.parameter(kNames[i]).equal(leaves[i])) << kNames[i];
}

TEST(PrecisionTest, SixtyFourTrueIsABareDoubleLoopBitForBit) {
  // Both LibTorch's optimizers and ours use fused multiply-add instructions if the processor has them.
  if (!fuses_multiply_add()) GTEST_SKIP() << "the processor has no fused multiply-add; LibTorch rounds twice";
  expect_the_same_bits_in_double(kMomentum, momentum);
  expect_the_same_bits_in_double(kAdamW, adamw);
}

TEST(PrecisionTest, MixedBfloat16IsABareLoopWithConvertedProductsAndFloatMasters) {
  MiniRun run(mlp("bf16-mixed"), kAdamW, made_up_data(kFeatures, kClasses));
  MiniRun full(mlp("32-true"), kAdamW, made_up_data(kFeatures, kClasses));
  const std::vector<at::Tensor> leaves = parameters_of(run);
  ASSERT_EQ(leaves[0].scalar_type(), at::kFloat);
  const auto all = batches(40);
  const auto ours = run.train(all);
  const auto theirs = bare_losses(leaves, all, at::kBFloat16, adamw);
  const auto exact = full.train(all);
  EXPECT_EQ(ours[0], theirs[0]);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    // A difference in the last bit of a weight can change the bfloat16 value to which it is rounded.
    EXPECT_NEAR(ours[i], theirs[i], 5e-3) << "step " << i + 1;
    EXPECT_NEAR(ours[i], exact[i], 0.05) << "step " << i + 1;
  }
  EXPECT_NE(ours, exact) << "something was computed in fewer bits";
}

/// Returns the current parameters and the state of the optimizer.
std::vector<at::Tensor> everything(const MiniRun& run) {
  return {run.parameters().clone(), run.state("exp_avg").clone(), run.state("exp_avg_sq").clone()};
}

Batch planted_overflow() {
  Batch batch = made_up_batch(3, 8, kFeatures, kClasses);
  batch.tensors[0] = Tensor::empty(DType::kFloat32, {8, kFeatures});
  std::ranges::fill(batch.tensors[0].as<float>(), 1000.0F);
  return batch;
}

TEST(PrecisionTest, MixedFloat16SkipsAPlantedOverflowSaysSoAndRecovers) {
  MiniRun run(mlp("16-mixed", R"(, "loss_scale": 16384, "loss_scale_growth_steps": 30)"), kAdamW,
              made_up_data(kFeatures, kClasses));
  run.train(batches(3));
  EXPECT_EQ(run.metric("loss_scale"), 16384);
  const std::vector<at::Tensor> before = everything(run);

  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(run.train({planted_overflow()}).empty()) << "no step was made, so none is reported";
  EXPECT_NE(::testing::internal::GetCapturedStderr().find(
                "a step after step 3 is skipped: gradients overflowed at loss scale 16384; the scale is 8192 now"),
            std::string::npos);
  const std::vector<at::Tensor> after = everything(run);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(after[i].equal(before[i])) << i;

  const auto losses = run.train(batches(40));
  EXPECT_EQ(losses.size(), 40u) << "the optimizer's count of steps has not moved in between";
  EXPECT_EQ(run.metric("skipped_steps"), 1);
  EXPECT_EQ(run.metric("loss_scale"), 16384) << "thirty good steps have doubled it again";
  EXPECT_LT(losses[36], losses[0]) << "the same batch";
}

TEST(PrecisionTest, ASkippedStepLeavesTheRunAsIfItsBatchHadNotBeen) {
  const std::string scaled = mlp("16-mixed", R"(, "loss_scale": 1024)");
  MiniRun straight(scaled, kAdamW, made_up_data(kFeatures, kClasses));
  MiniRun planted(scaled, kAdamW, made_up_data(kFeatures, kClasses));
  Batch huge = planted_overflow();
  std::ranges::fill(huge.tensors[0].as<float>(), 1e5F);
  const auto all = batches(12);
  straight.train(all);
  planted.train({all.begin(), all.begin() + 5});
  planted.train({huge});
  planted.train({all.begin() + 5, all.end()});
  // A scale that is a power of two does not change the results, as long as nothing leaves the range.
  EXPECT_LE((straight.parameters() - planted.parameters()).abs().max().item<double>(), 1e-4);
  EXPECT_EQ(planted.metric("skipped_steps"), 1);
}

TEST(PrecisionTest, LossScalingLeavesClippingAndAccumulationAlone) {
  const auto train = [](const std::string& host) {
    MiniRun run(host, R"({"rule": "sgd", "lr": 0.1})", made_up_data(kFeatures, kClasses));
    run.train(batches(12), 3);
    EXPECT_GT(run.metric("gradient_norm"), 0);
    return run.parameters().clone();
  };
  constexpr const char* kClipping = R"(, "clip_norm": 0.05, "clip_value": 0.01)";
  const at::Tensor full = train(mlp("32-true", kClipping));
  const at::Tensor scaled = train(mlp("16-mixed", kClipping));
  EXPECT_LE((full - scaled).abs().max().item<double>(), 1e-3);
}

TEST(PrecisionTest, TrueBfloat16KeepsParametersInItAndTheOptimizersStateInFloat) {
  MiniRun run(mlp("bf16-true"), kAdamW, made_up_data(kFeatures, kClasses));
  const auto losses = run.train(batches(60));
  EXPECT_EQ(run.parameters().scalar_type(), at::kBFloat16);
  EXPECT_EQ(run.state("exp_avg").scalar_type(), at::kFloat);
  EXPECT_LT(losses[54], losses[0]) << "the same batch";
}

TEST(PrecisionTest, EvaluationComputesInTheSamePrecision) {
  for (const char* name : {"64-true", "bf16-mixed", "16-mixed", "bf16-true"}) {
    MiniRun run(mlp(name), kAdamW, made_up_data(kFeatures, kClasses));
    const auto leaves = parameters_of(run);
    const auto type = std::string(name).starts_with("bf16") ? at::kBFloat16 : leaves[0].scalar_type();
    const double expected = loss_in(type, leaves, batches(1)[0]).item<double>();
    EXPECT_NEAR(run.evaluate(batches(1)).at(0).value, expected, name[0] == '1' ? 1e-3 : 1e-5) << name;
  }
}

TEST(PrecisionTest, TheGptTrainsInEveryPrecisionOfTheCpu) {
  DatasetInfo data;
  data.dataset = "text";
  data.fields = {{"input", 4, {12}}, {"target", 4, {12}}};
  data.classes = 11;
  Batch batch = made_up_batch(0, 4, 1, kClasses);
  batch.tensors = {Tensor::empty(DType::kInt64, {4, 12}), Tensor::empty(DType::kInt64, {4, 12})};
  for (std::size_t t = 0; t < 48; ++t) {
    batch.tensors[0].as<std::int64_t>()[t] = static_cast<std::int64_t>(t) % 11;
    batch.tensors[1].as<std::int64_t>()[t] = static_cast<std::int64_t>(t + 1) % 11;
  }
  for (const char* name : {"64-true", "32-true", "bf16-mixed", "16-mixed", "bf16-true"}) {
    MiniRun run(std::string(R"("model": {"plugin": "gpt", "layers": 2, "heads": 2, "width": 32}, "precision": ")") +
                    name + "\"",
                R"({"lr": 0.01})", data);
    const auto losses = run.train(std::vector<Batch>(30, batch));
    EXPECT_NEAR(losses.front(), std::log(11), 0.1) << name;
    EXPECT_LT(losses.back(), 1) << name;
  }
}

}  // namespace
}  // namespace trainyard::testing
