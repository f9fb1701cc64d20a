// SPDX-License-Identifier: Apache-2.0
#include "models/resnet/resnet.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "messages/error.h"
#include "models/testing/double_precision.h"

// tests/numerics/resnet_test.cpp compares whole runs with a training loop in plain LibTorch.
namespace trainyard {
namespace {

using ::testing::HasSubstr;

DatasetInfo images(std::vector<std::int64_t> shape, std::uint64_t classes = 10) {
  DatasetInfo data;
  data.dataset = "made up";
  data.fields = {{"input", 7, std::move(shape)}, {"target", 4, {}}};
  data.classes = classes;
  return data;
}

/// A model and the context that it refers to.
struct Built {
  explicit Built(const std::string& parameters, const DatasetInfo& data) {
    context.where = "model 'resnet'";
    context.parameters = parameters;
    model = std::make_unique<Resnet>(context);
    model->build(data);
  }
  at::Tensor named(const std::string& name) {
    for (const auto& list : {model->parameters(), model->buffers()}) {
      for (const NamedTensor& one : list) {
        if (one.name == name) return one.tensor;
      }
    }
    throw Error(Code::kNotFound, "no tensor '{}'", name);
  }
  std::int64_t numbers() {
    const auto all = model->parameters();
    return std::accumulate(all.begin(), all.end(), std::int64_t{0},
                           [](std::int64_t sum, const NamedTensor& one) { return sum + one.tensor.numel(); });
  }
  ModelContext context;
  std::unique_ptr<Resnet> model;
};

TEST(ResnetTest, HasAsManyNumbersAsThePublishedOnes) {
  // torchvision's documentation: resnet18 has 11,689,512 and resnet34 has 21,797,672 parameters.
  Built resnet18("{}", images({3, 224, 224}, 1000));
  EXPECT_EQ(resnet18.numbers(), 11'689'512);
  EXPECT_EQ(resnet18.model->parameters().size(), 62u);
  EXPECT_EQ(resnet18.model->buffers().size(), 60u);
  Built resnet34(R"({"layers": 34})", images({3, 224, 224}, 1000));
  EXPECT_EQ(resnet34.numbers(), 21'797'672);
}

TEST(ResnetTest, TensorsHaveTorchvisionsNamesAndShapes) {
  Built made("{}", images({3, 224, 224}, 1000));
  const auto shape = [&](const std::string& name) { return made.named(name).sizes().vec(); };
  using Shape = std::vector<std::int64_t>;
  EXPECT_EQ(shape("conv1.weight"), (Shape{64, 3, 7, 7}));
  EXPECT_EQ(shape("layer1.0.conv1.weight"), (Shape{64, 64, 3, 3}));
  EXPECT_EQ(shape("layer2.0.downsample.0.weight"), (Shape{128, 64, 1, 1}));
  EXPECT_EQ(shape("layer2.0.downsample.1.running_var"), (Shape{128}));
  EXPECT_EQ(shape("layer4.1.bn2.num_batches_tracked"), Shape{});
  EXPECT_EQ(shape("fc.weight"), (Shape{1000, 512}));
  EXPECT_EQ(made.model->parameters().front().name, "conv1.weight");
  EXPECT_EQ(made.model->parameters().back().name, "fc.bias");
}

TEST(ResnetTest, SmallImagesGetTheCifarStem) {
  Built small("{}", images({3, 32, 32}));
  EXPECT_EQ(small.named("conv1.weight").size(2), 3);
  Built told(R"({"stem": "imagenet"})", images({3, 32, 32}));
  EXPECT_EQ(told.named("conv1.weight").size(2), 7);
}

TEST(ResnetTest, BytesAndFloatsFromZeroToOneAreTheSameImage) {
  Built made(R"({"width": 4})", images({3, 16, 16}));
  const at::Tensor bytes = at::randint(256, {2, 3, 16, 16}, at::kByte);
  const at::Tensor target = at::randint(10, {2}, at::kLong);
  made.model->set_training(false);
  const auto loss = [&](const at::Tensor& input) {
    return made.model->training_step({"train", {input, target}}).item<double>();
  };
  EXPECT_EQ(loss(bytes), loss(bytes.to(at::kFloat).div(255)));
}

/// Returns the stages' outputs in evaluation mode, followed by the loss, the gradients and the buffers of a training
/// step, all in double precision.
std::vector<at::Tensor> results(const std::string& parameters, const at::Tensor& input, const at::Tensor& target) {
  at::Generator(at::detail::getDefaultCPUGenerator()).set_current_seed(5);
  Built made(parameters, images(input.sizes().slice(1).vec()));
  testing::use_double_precision(*made.model);
  std::vector<at::Tensor> all;
  made.model->set_training(false);
  at::Tensor x = made.model->stage_input({"train", {input, target}});
  for (const Stage& stage : made.model->stages()) all.push_back(x = stage.forward(x));
  made.model->set_training(true);
  all.push_back(made.model->training_step({"train", {input, target}}));
  all.back().backward();
  for (const NamedTensor& parameter : made.model->parameters()) {
    EXPECT_TRUE(parameter.tensor.is_contiguous()) << parameter.name;
    all.push_back(parameter.tensor.grad());
  }
  for (const NamedTensor& buffer : made.model->buffers()) all.push_back(buffer.tensor);
  return all;
}

TEST(ResnetTest, WithTheChannelsLastTheResultsAreTheSame) {
  const at::Tensor target = at::randint(10, {4}, at::kLong);
  for (const std::string stem : {"cifar", "imagenet"}) {
    // With images of 32 x 32, the last batch norms after the stem for ImageNet would see 4 values for each channel, and
    // amplify the differences in rounding.
    const std::int64_t size = stem == "cifar" ? 32 : 64;
    const at::Tensor input = at::rand({4, 3, size, size}, at::kDouble);
    const std::string sizes = R"("width": 8, "stem": ")" + stem + "\"";
    const auto usual = results("{" + sizes + "}", input, target);
    const auto arranged = results("{" + sizes + R"(, "channels_last": true})", input, target);
    ASSERT_EQ(arranged.size(), usual.size());
    for (std::size_t i = 0; i < usual.size(); ++i) {
      EXPECT_TRUE(arranged[i].allclose(usual[i], 1e-6, 1e-9)) << "result " << i << " with the stem " << stem;
    }
    for (std::size_t stage = 0; stage < 9; ++stage) {
      EXPECT_TRUE(arranged[stage].is_contiguous(at::MemoryFormat::ChannelsLast)) << "stage " << stage;
    }
    EXPECT_FALSE(usual[0].is_contiguous(at::MemoryFormat::ChannelsLast));
  }
}

TEST(ResnetTest, AStageTakesAnInputInTheUsualFormatAsFromAnotherRank) {
  Built made(R"({"width": 4, "channels_last": true})", images({3, 16, 16}));
  made.model->set_training(false);
  const std::vector<Stage> stages = made.model->stages();
  const at::Tensor x = at::rand({2, 4, 16, 16});
  ASSERT_EQ(stages.at(1).name, "layer1.0");
  EXPECT_TRUE(stages[1].forward(x).is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_TRUE(x.is_contiguous()) << "a stage does not change its input";
}

TEST(ResnetTest, RunningMeansMoveInTrainingOnly) {
  Built made(R"({"width": 4})", images({3, 16, 16}));
  const at::Tensor input = at::rand({4, 3, 16, 16});
  const at::Tensor target = at::randint(10, {4}, at::kLong);
  made.model->set_training(false);
  made.model->evaluation_step({"validate", {input, target}});
  EXPECT_EQ(made.named("bn1.running_mean").abs().sum().item<float>(), 0);
  made.model->set_training(true);
  made.model->training_step({"train", {input, target}});
  EXPECT_NE(made.named("bn1.running_mean").abs().sum().item<float>(), 0);
  EXPECT_EQ(made.named("layer4.1.bn2.num_batches_tracked").item<std::int64_t>(), 1);
}

TEST(ResnetTest, WhatDoesNotFitIsRefused) {
  const auto text = [](const std::string& parameters, std::vector<std::int64_t> shape) -> std::string {
    try {
      Built(parameters, images(std::move(shape)));
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(text("{}", {784}), HasSubstr("needs images (channels, height, width); dataset 'made up' has [784]"));
  EXPECT_THAT(text(R"({"layers": 20})", {3, 32, 32}), HasSubstr("layers = 20 is not allowed; 18 or 34"));
  EXPECT_THAT(text(R"({"stem": "none"})", {3, 32, 32}), HasSubstr("auto, cifar, imagenet"));
}

}  // namespace
}  // namespace trainyard
