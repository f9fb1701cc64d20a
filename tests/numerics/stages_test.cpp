// SPDX-License-Identifier: Apache-2.0
// Tests that the stages of a model, computed one after another, give the same results as the model.
#include <ATen/TensorOperators.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "core/plugin/loader.h"
#include "messages/error.h"
#include "models/model.h"

namespace trainyard::testing {
namespace {

/// A model, and a description of data that it accepts.
struct Case {
  const char* model;
  const char* parameters;
  std::vector<std::int64_t> input;
  std::vector<std::string> stages;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.model; }

class StagesTest : public ::testing::TestWithParam<Case> {
 protected:
  StagesTest() : loader_(core::PluginLoader::default_directories()) {
    context_.where = "model";
    context_.parameters = GetParam().parameters;
    model_ = loader_.create<Model>(GetParam().model, context_);
    DatasetInfo data;
    data.dataset = "made up";
    const bool text = std::string(GetParam().model) == "gpt";
    data.fields = {{"input", 7, GetParam().input},
                   {"target", 4, text ? GetParam().input : std::vector<std::int64_t>{}}};
    data.classes = 11;
    model_->build(data);
    std::vector<std::int64_t> shape = GetParam().input;
    shape.insert(shape.begin(), 6);
    batch_.split = "train";
    batch_.tensors = {text ? at::randint(11, shape, at::kLong) : at::randn(shape),
                      at::randint(11, text ? shape : std::vector<std::int64_t>{6}, at::kLong)};
  }

  /// Returns the gradients and removes them from the parameters.
  std::vector<at::Tensor> take_gradients() {
    std::vector<at::Tensor> all;
    for (const NamedTensor& named : model_->parameters()) {
      all.push_back(named.tensor.grad().clone());
      named.tensor.mutable_grad() = at::Tensor();
    }
    return all;
  }

  /// Runs the forward and backward pass stage by stage, as the strategies `pipeline` and `fsdp` do. Returns the loss.
  double run_in_pieces() {
    std::vector<at::Tensor> inputs{model_->stage_input(batch_)}, outputs;
    for (const Stage& stage : model_->stages()) {
      outputs.push_back(stage.forward(inputs.back()));
      EXPECT_EQ(outputs.back().size(0), 6) << stage.name << ": samples are the first dimension";
      inputs.push_back(outputs.back().detach().requires_grad_(true));
    }
    const at::Tensor loss = model_->loss(inputs.back(), batch_);
    loss.backward();
    for (std::size_t i = outputs.size(); i-- > 0;) torch::autograd::backward({outputs[i]}, {inputs[i + 1].grad()});
    return loss.item<double>();
  }

  core::PluginLoader loader_;
  ModelContext context_;
  std::unique_ptr<Model> model_;
  ModelBatch batch_;
};

TEST_P(StagesTest, TheChainGivesTheSameLossAndGradients) {
  const at::Tensor whole = model_->training_step(batch_);
  whole.backward();
  const std::vector<at::Tensor> expected = take_gradients();
  EXPECT_NEAR(run_in_pieces(), whole.item<double>(), 1e-6);
  const std::vector<at::Tensor> found = take_gradients();
  const std::vector<NamedTensor> parameters = model_->parameters();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(found[i].allclose(expected[i], 1e-5, 1e-6)) << parameters[i].name;
  }
}

TEST_P(StagesTest, TheChainGivesTheSameMetrics) {
  model_->set_training(false);
  const std::vector<NamedMetric> expected = model_->evaluation_step(batch_);
  at::Tensor values = model_->stage_input(batch_);
  for (const Stage& stage : model_->stages()) values = stage.forward(values);
  const std::vector<NamedMetric> found = model_->metrics(values, batch_);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].name, expected[i].name);
    EXPECT_NEAR(found[i].value.item<double>(), expected[i].value.item<double>(), 1e-6);
  }
}

/// Tests that parameters are in the order of the first stages that use them, so that the parameters of a stage are
/// neighbours in memory.
TEST_P(StagesTest, StagesHaveAllParametersAndBuffersInTheirOrder) {
  std::vector<std::string> names, parameters, buffers;
  const auto add = [](std::vector<std::string>& to, const std::vector<NamedTensor>& tensors) {
    for (const NamedTensor& named : tensors) {
      if (std::ranges::find(to, named.name) == to.end()) to.push_back(named.name);
    }
  };
  for (const Stage& stage : model_->stages()) {
    names.push_back(stage.name);
    add(parameters, stage.parameters);
    add(buffers, stage.buffers);
  }
  std::vector<std::string> all_parameters, all_buffers;
  add(all_parameters, model_->parameters());
  add(all_buffers, model_->buffers());
  EXPECT_EQ(names, GetParam().stages);
  EXPECT_EQ(parameters, all_parameters);
  EXPECT_EQ(buffers, all_buffers);
}

INSTANTIATE_TEST_SUITE_P(
    Models, StagesTest,
    ::testing::Values(Case{"mlp", R"({"hidden": [16, 8]})", {5, 4}, {"layers.0", "layers.1", "layers.2"}},
                      Case{"convnet",
                           R"({"channels": [4, 6], "hidden": 20, "dropout": 0})",
                           {1, 12, 12},
                           {"convolutions.0", "convolutions.1", "hidden", "output"}},
                      Case{"resnet",
                           R"({"width": 4})",
                           {3, 16, 16},
                           {"stem", "layer1.0", "layer1.1", "layer2.0", "layer2.1", "layer3.0", "layer3.1", "layer4.0",
                            "layer4.1", "fc"}},
                      Case{"gpt",
                           R"({"layers": 2, "heads": 2, "width": 32, "bias": true})",
                           {12},
                           {"transformer.embedding", "transformer.h.0", "transformer.h.1", "transformer.head"}}),
    [](const auto& info) { return std::string(info.param.model); });

}  // namespace
}  // namespace trainyard::testing
