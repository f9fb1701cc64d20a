// SPDX-License-Identifier: Apache-2.0
#include "models/convnet/convnet.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <gtest/gtest.h>

#include "messages/error.h"
#include "models/testing/double_precision.h"

namespace trainyard {
namespace {

ModelContext context(const std::string& parameters = "{}") {
  ModelContext context;
  context.where = "model 'convnet'";
  context.parameters = parameters;
  return context;
}

DatasetInfo images(std::vector<std::int64_t> shape) {
  DatasetInfo data;
  data.dataset = "idx";
  data.fields = {{"input", 7, std::move(shape)}, {"target", 4, {}}};
  data.classes = 10;
  return data;
}

std::string text_of_error(const std::string& parameters, std::vector<std::int64_t> shape) {
  ModelContext made = context(parameters);
  Convnet model(made);
  try {
    model.build(images(std::move(shape)));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(ConvnetTest, TheLossIsThatOfTheWrittenOutNetwork) {
  ModelContext made = context(R"({"channels": [4, 6], "kernel": 3, "hidden": 20, "dropout": 0})");
  Convnet model(made);
  model.build(images({1, 28, 28}));
  const auto p = model.parameters();
  ASSERT_EQ(p.size(), 8u);
  const at::Tensor input = at::randn({5, 1, 28, 28});
  const at::Tensor target = at::randint(10, {5}, at::kLong);
  at::Tensor x = at::max_pool2d(at::relu(at::conv2d(input, p[0].tensor, p[1].tensor, 1, 1)), 2);
  x = at::max_pool2d(at::relu(at::conv2d(x, p[2].tensor, p[3].tensor, 1, 1)), 2).flatten(1);
  EXPECT_EQ(x.size(1), 6 * 7 * 7);
  x = at::linear(at::relu(at::linear(x, p[4].tensor, p[5].tensor)), p[6].tensor, p[7].tensor);
  EXPECT_NEAR(model.training_step({"train", {input, target}}).item<double>(),
              at::cross_entropy_loss(x, target).item<double>(), 1e-6);
}

TEST(ConvnetTest, ImagesWithoutAChannelGetOne) {
  ModelContext made = context();
  Convnet model(made);
  model.build(images({28, 28}));
  const at::Tensor target = at::randint(10, {2}, at::kLong);
  EXPECT_GT(model.training_step({"train", {at::randn({2, 28, 28}), target}}).item<double>(), 0);
  EXPECT_EQ(model.evaluation_step({"validate", {at::randn({2, 28, 28}), target}}).size(), 2u);
}

TEST(ConvnetTest, DropoutWorksInTrainingOnly) {
  ModelContext made = context(R"({"channels": [2], "dropout": 0.5})");
  Convnet model(made);
  model.build(images({8, 8}));
  const at::Tensor input = at::randn({4, 8, 8});
  const at::Tensor target = at::randint(10, {4}, at::kLong);
  const auto loss = [&] { return model.training_step({"train", {input, target}}).item<double>(); };
  EXPECT_NE(loss(), loss());
  model.set_training(false);
  EXPECT_EQ(loss(), loss());
}

/// Returns the stages' outputs for the images, the loss, and the gradients of the parameters, all in double precision.
std::vector<at::Tensor> results(const std::string& parameters, const at::Tensor& input, const at::Tensor& target) {
  at::Generator(at::detail::getDefaultCPUGenerator()).set_current_seed(5);
  ModelContext made = context(parameters);
  Convnet model(made);
  model.build(images(input.sizes().slice(1).vec()));
  testing::use_double_precision(model);
  std::vector<at::Tensor> all;
  at::Tensor values = model.stage_input({"train", {input, target}});
  for (const Stage& stage : model.stages()) all.push_back(values = stage.forward(values));
  all.push_back(model.training_step({"train", {input, target}}));
  all.back().backward();
  for (const NamedTensor& parameter : model.parameters()) {
    EXPECT_TRUE(parameter.tensor.is_contiguous()) << parameter.name;
    all.push_back(parameter.tensor.grad());
  }
  return all;
}

TEST(ConvnetTest, WithTheChannelsLastTheResultsAreTheSame) {
  for (const std::int64_t channels : {1, 3}) {
    const at::Tensor input = at::randn({5, channels, 12, 12}, at::kDouble);
    const at::Tensor target = at::randint(10, {5}, at::kLong);
    const auto usual = results(R"({"channels": [4, 6], "dropout": 0})", input, target);
    const auto arranged = results(R"({"channels": [4, 6], "dropout": 0, "channels_last": true})", input, target);
    ASSERT_EQ(arranged.size(), usual.size());
    for (std::size_t i = 0; i < usual.size(); ++i) {
      EXPECT_TRUE(arranged[i].allclose(usual[i], 1e-6, 1e-9)) << "result " << i << ", " << channels << " channels";
    }
    for (const std::size_t stage : {0, 1}) {
      EXPECT_EQ(arranged[stage].suggest_memory_format(), at::MemoryFormat::ChannelsLast) << "stage " << stage;
      EXPECT_EQ(usual[stage].suggest_memory_format(), at::MemoryFormat::Contiguous) << "stage " << stage;
    }
  }
}

TEST(ConvnetTest, WhatDoesNotFitIsRefusedWithItsValue) {
  EXPECT_EQ(text_of_error("{}", {784}),
            "model 'convnet' needs images, (height, width) or (channels, height, width); dataset 'idx' has [784]");
  EXPECT_EQ(text_of_error(R"({"kernel": 4})", {28, 28}), "model 'convnet': kernel = 4 is even; odd is needed");
  EXPECT_EQ(text_of_error(R"({"channels": [8, 0]})", {28, 28}),
            "model 'convnet': channels has 0; every one must be >= 1");
  EXPECT_EQ(text_of_error(R"({"channels": [8, 8, 8]})", {4, 4}),
            "model 'convnet': 3 poolings leave nothing of images of shape [1, 4, 4]");
}

}  // namespace
}  // namespace trainyard
