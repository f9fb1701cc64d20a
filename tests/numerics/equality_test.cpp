// SPDX-License-Identifier: Apache-2.0
#include <torch/types.h>

// Needs the names of torch/types.h and does not include it.
#include <torch/nn/utils/clip_grad.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <gtest/gtest.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <fmt/format.h>

#include <functional>
#include <memory>

#include "tensors/bridge.h"
#include "tests/numerics/mini_run.h"

namespace trainyard::testing {
namespace {

constexpr const char* kMlp = R"("model": {"plugin": "mlp", "hidden": [16]})";
constexpr const char* kGpt = R"("model": {"plugin": "gpt", "layers": 2, "heads": 2, "width": 32})";
constexpr int kFeatures = 20;
constexpr int kClasses = 7;

std::vector<Batch> batches(int count, std::int64_t samples) {
  std::vector<Batch> all;
  for (int i = 0; i < count; ++i)
    all.push_back(made_up_batch(static_cast<std::uint64_t>(i), samples, kFeatures, kClasses));
  return all;
}

/// Returns batches of token numbers for the model `gpt`.
std::vector<Batch> texts(int count) {
  std::vector<Batch> all;
  for (int i = 0; i < count; ++i) {
    Batch batch = made_up_batch(static_cast<std::uint64_t>(i), 4, 1, kClasses);
    batch.tensors = {Tensor::empty(DType::kInt64, {4, 12}), Tensor::empty(DType::kInt64, {4, 12})};
    for (Tensor& tensor : batch.tensors) {
      for (std::size_t t = 0; t < 48; ++t) tensor.as<std::int64_t>()[t] = static_cast<std::int64_t>(t * t + i) % 11;
    }
    all.push_back(std::move(batch));
  }
  return all;
}

DatasetInfo text_data() {
  DatasetInfo data;
  data.dataset = "text";
  data.fields = {{"input", 4, {12}}, {"target", 4, {12}}};
  data.classes = 11;
  return data;
}

using Rule = std::function<std::unique_ptr<torch::optim::Optimizer>(std::vector<at::Tensor>)>;

/// Returns the losses of a training loop in plain LibTorch, which begins with the parameters `leaves`.
std::vector<double> bare_losses(std::vector<at::Tensor> leaves, const std::vector<Batch>& all, const Rule& rule,
                                double clip_norm) {
  for (at::Tensor& leaf : leaves) leaf.set_requires_grad(true);
  const auto optimizer = rule(leaves);
  std::vector<double> losses;
  for (const Batch& batch : all) {
    optimizer->zero_grad();
    const at::Tensor hidden = at::relu(at::linear(view_of(batch.tensors[0]), leaves[0], leaves[1]));
    const at::Tensor loss = at::cross_entropy_loss(at::linear(hidden, leaves[2], leaves[3]), view_of(batch.tensors[1]));
    loss.backward();
    if (clip_norm > 0) torch::nn::utils::clip_grad_norm_(leaves, clip_norm);
    optimizer->step();
    losses.push_back(loss.item<double>());
  }
  return losses;
}

void expect_equal_to_bare_loop(const std::string& optimizer, const Rule& rule, double clip_norm) {
  std::vector<Batch> all;
  for (int pass = 0; pass < 6; ++pass) {
    for (Batch& batch : batches(5, 8)) all.push_back(std::move(batch));
  }
  MiniRun run(fmt::format("{}, \"clip_norm\": {}", kMlp, clip_norm), optimizer, made_up_data(kFeatures, kClasses));
  std::vector<at::Tensor> leaves;
  for (const char* name : {"layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias"}) {
    leaves.push_back(run.parameter(name));
  }
  const std::vector<double> ours = run.train(all);
  const std::vector<double> theirs = bare_losses(leaves, all, rule, clip_norm);
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i], theirs[i], 1e-6) << "step " << i + 1;
  EXPECT_LT(ours[25], ours[0]) << "it has learnt something of the first batch";
}

TEST(NumericsTest, AdamWWithClippingEqualsABareLoopStepForStep) {
  expect_equal_to_bare_loop(R"({"rule": "adamw", "lr": 0.01, "weight_decay": 0.1})",
                            [](std::vector<at::Tensor> leaves) {
                              return std::make_unique<torch::optim::AdamW>(
                                  leaves, torch::optim::AdamWOptions(0.01).weight_decay(0.1));
                            },
                            0.5);
}

TEST(NumericsTest, MomentumEqualsABareLoopStepForStep) {
  expect_equal_to_bare_loop(R"({"rule": "sgd", "lr": 0.05, "momentum": 0.9})",
                            [](std::vector<at::Tensor> leaves) {
                              return std::make_unique<torch::optim::SGD>(leaves,
                                                                         torch::optim::SGDOptions(0.05).momentum(0.9));
                            },
                            0);
}

TEST(NumericsTest, AccumulatingPartsEqualsTheWholeBatch) {
  constexpr const char* kSgd = R"({"rule": "sgd", "lr": 0.1})";
  MiniRun whole(kMlp, kSgd, made_up_data(kFeatures, kClasses));
  const std::vector<double> expected = whole.train(batches(12, 24));
  for (const int parts : {2, 3, 8}) {
    MiniRun run(kMlp, kSgd, made_up_data(kFeatures, kClasses));
    std::vector<Batch> pieces;
    for (const Batch& batch : batches(12, 24)) {
      for (int part = 0; part < parts; ++part)
        pieces.push_back(rows(batch, part * 24 / parts, (part + 1) * 24 / parts));
    }
    const std::vector<double> losses = run.train(pieces, static_cast<std::uint64_t>(parts));
    ASSERT_EQ(losses.size(), expected.size());
    for (std::size_t i = 0; i < losses.size(); ++i) EXPECT_NEAR(losses[i], expected[i], 1e-6) << parts << " parts";
    EXPECT_LE((run.parameters() - whole.parameters()).abs().max().item<double>(), 1e-6) << parts << " parts";
  }
}

TEST(NumericsTest, TheSameSeedGivesTheSameRunBitForBit) {
  for (const bool gpt : {false, true}) {
    const auto make = [&](std::uint64_t seed) {
      return std::make_unique<MiniRun>(gpt ? kGpt : kMlp, "{}", gpt ? text_data() : made_up_data(kFeatures, kClasses),
                                       seed);
    };
    const auto all = gpt ? texts(10) : batches(10, 8);
    const auto first = make(5);
    const auto second = make(5);
    const auto other = make(6);
    const auto losses = first->train(all);
    EXPECT_EQ(losses, second->train(all));
    EXPECT_TRUE(first->parameters().equal(second->parameters()));
    EXPECT_NE(losses, other->train(all)) << "another seed is another run";
  }
}

TEST(NumericsTest, EvaluatingInBetweenChangesNothing) {
  const auto all = batches(8, 8);
  MiniRun straight(kMlp, "{}", made_up_data(kFeatures, kClasses));
  MiniRun interrupted(kMlp, "{}", made_up_data(kFeatures, kClasses));
  straight.train(all);
  interrupted.train({all.begin(), all.begin() + 3});
  interrupted.evaluate(batches(2, 5));
  interrupted.train({all.begin() + 3, all.end()});
  EXPECT_TRUE(straight.parameters().equal(interrupted.parameters()));
}

}  // namespace
}  // namespace trainyard::testing
