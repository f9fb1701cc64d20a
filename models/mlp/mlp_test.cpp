// SPDX-License-Identifier: Apache-2.0
#include "models/mlp/mlp.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "messages/error.h"

namespace trainyard {
namespace {

ModelContext context(const std::string& parameters) {
  ModelContext context;
  context.where = "model 'mlp'";
  context.parameters = parameters;
  return context;
}

DatasetInfo digits() {
  DatasetInfo data;
  data.dataset = "idx";
  data.fields = {{"input", 7, {4, 3}}, {"target", 4, {}}};
  data.classes = 5;
  return data;
}

TEST(MlpTest, HasTheLayersThatTheDatasetAndTheListAskFor) {
  ModelContext made = context(R"({"hidden": [7, 6]})");
  Mlp model(made);
  model.build(digits());
  const std::vector<NamedTensor> parameters = model.parameters();
  ASSERT_EQ(parameters.size(), 6u);
  EXPECT_EQ(parameters[0].name, "layers.0.weight");
  EXPECT_EQ(parameters[0].tensor.sizes(), at::IntArrayRef({7, 12}));
  EXPECT_EQ(parameters[5].name, "layers.2.bias");
  EXPECT_EQ(parameters[5].tensor.sizes(), at::IntArrayRef({5}));
  for (const NamedTensor& parameter : parameters) {
    EXPECT_LE(parameter.tensor.abs().max().item<double>(), 1 / std::sqrt(6.0)) << "torch.nn.Linear's bound";
  }
}

TEST(MlpTest, TheLossIsThatOfTheWrittenOutFormula) {
  ModelContext made = context(R"({"hidden": [6], "activation": "tanh"})");
  Mlp model(made);
  model.build(digits());
  const auto p = model.parameters();
  const at::Tensor input = at::randn({8, 4, 3});
  const at::Tensor target = at::randint(5, {8}, at::kLong);
  const at::Tensor hidden = (at::mm(input.view({8, 12}), p[0].tensor.t()) + p[1].tensor).tanh();
  const at::Tensor logits = at::mm(hidden, p[2].tensor.t()) + p[3].tensor;
  const at::Tensor loss = model.training_step({"train", {input, target}});
  EXPECT_EQ(loss.dim(), 0);
  EXPECT_NEAR(loss.item<double>(), at::cross_entropy_loss(logits, target).item<double>(), 1e-6);
}

TEST(MlpTest, EvaluationGivesLossAndAccuracy) {
  ModelContext made = context("{}");
  Mlp model(made);
  model.build(digits());
  const at::NoGradGuard no_gradients;
  const at::Tensor input = at::randn({20, 4, 3});
  const Prediction said = model.predict({"predict", {input}});
  // The targets are the model's own predictions, so all predictions are right.
  const at::Tensor classes =
      at::randint(5, {20}, at::kLong).copy_(at::from_blob(said.tensors[0].data(), {20}, at::kLong));
  const auto metrics = model.evaluation_step({"validate", {input, classes}});
  ASSERT_EQ(metrics.size(), 2u);
  EXPECT_EQ(metrics[0].name, "loss");
  EXPECT_EQ(metrics[1].name, "accuracy");
  EXPECT_EQ(metrics[1].value.item<double>(), 1);
}

TEST(MlpTest, BytesBecomeNumbersBetweenZeroAndOne) {
  ModelContext made = context("{}");
  Mlp model(made);
  model.build(digits());
  const at::Tensor bytes = at::randint(256, {3, 4, 3}, at::kByte);
  const at::Tensor target = at::randint(5, {3}, at::kLong);
  EXPECT_NEAR(model.training_step({"train", {bytes, target}}).item<double>(),
              model.training_step({"train", {bytes.to(at::kFloat) / 255, target}}).item<double>(), 1e-6);
}

TEST(MlpTest, ADatasetWithoutClassesIsRefusedWithWhatItHas) {
  ModelContext made = context("{}");
  Mlp model(made);
  DatasetInfo data = digits();
  data.classes = 0;
  try {
    model.build(data);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kShapeMismatch);
    EXPECT_STREQ(error.what(),
                 "model 'mlp' needs an input, one class number as target, and 2 or more classes; dataset 'idx' has "
                 "input float32 [4, 3], target int64 [], 0 classes");
  }
}

TEST(MlpTest, EmptyHiddenLayersAreRefused) {
  ModelContext made = context(R"({"hidden": [8, 0]})");
  Mlp model(made);
  EXPECT_THROW(model.build(digits()), Error);
}

}  // namespace
}  // namespace trainyard
