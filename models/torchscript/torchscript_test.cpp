// SPDX-License-Identifier: Apache-2.0
#include "models/torchscript/torchscript.h"

#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/null_sink.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "core/testing/error_of.h"
#include "core/testing/python.h"
#include "core/testing/temporary_folder.h"
#include "messages/error.h"

// tests/torchscript trains such a model on MNIST and loads the weights back into Python.
namespace trainyard {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// A Python program that saves a small network in the file argv[1] and prints PyTorch's results for an input of ones:
/// the loss and the sums of the gradients.
constexpr const char* kExport = R"(
import json, sys, torch
torch.manual_seed(3)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.features = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2), torch.nn.ReLU())
        self.head = torch.nn.Linear(2 * 4 * 4, 3)
        self.frozen = torch.nn.Parameter(torch.ones(1), requires_grad=False)
    def forward(self, x):
        return self.head(self.features(x).flatten(1)) * self.frozen
net = Net()
torch.jit.script(net).save(sys.argv[1])
x = torch.arange(2 * 36, dtype=torch.float32).view(2, 1, 6, 6) / 72
loss = torch.nn.functional.cross_entropy(net(x), torch.tensor([0, 2]))
loss.backward()
print(json.dumps({"loss": loss.item(), "names": [n for n, p in net.named_parameters() if p.requires_grad],
                  "buffers": [n for n, _ in net.named_buffers()],
                  "gradients": [p.grad.abs().sum().item() for p in net.parameters() if p.requires_grad]}))
)";

class TorchScriptTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::python_has("torch")) GTEST_SKIP() << "needs /usr/bin/python3 with torch (Debian: python3-torch)";
    path_ = folder_.path("net.pt");
    wanted_ = json::parse(testing::python(kExport, path_));
    data_.dataset = "made up";
    data_.fields = {{"input", 7, {1, 6, 6}}, {"target", 4, {}}};
    data_.classes = 3;
  }

  void make(const json& more = json::object(), const std::string& path = "") {
    json parameters{{"path", path.empty() ? path_ : path}, {"trust", true}};
    parameters.update(more);
    context_.where = "model 'torchscript'";
    context_.parameters = parameters.dump();
    context_.log = std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::null_sink_mt>());
    model_ = std::make_unique<TorchScript>(context_);
    model_->build(data_);
  }

  std::string error_of(const json& more, const std::string& path = "") {
    return testing::error_of([&] { make(more, path); }).second;
  }

  static ModelBatch batch(const at::Tensor& target) {
    return {"train", {at::ones({72}).cumsum(0).sub(1).view({2, 1, 6, 6}).div(72), target}};
  }

  testing::TemporaryFolder folder_;
  std::string path_;
  json wanted_;
  DatasetInfo data_;
  ModelContext context_;
  std::unique_ptr<TorchScript> model_;
};

TEST_F(TorchScriptTest, LossAndGradientsAreThoseOfPython) {
  make();
  at::Tensor target = at::ones({2}, at::kLong);
  target[0] = 0;
  target[1] = 2;
  const at::Tensor loss = model_->training_step(batch(target));
  EXPECT_NEAR(loss.item<double>(), wanted_["loss"].get<double>(), 1e-6);
  loss.backward();
  const auto parameters = model_->parameters();
  ASSERT_EQ(parameters.size(), wanted_["names"].size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    EXPECT_EQ(parameters[i].name, wanted_["names"][i].get<std::string>());
    EXPECT_NEAR(parameters[i].tensor.grad().abs().sum().item<double>(), wanted_["gradients"][i].get<double>(), 1e-5);
  }
}

TEST_F(TorchScriptTest, FrozenParametersAreKeptLikeBuffers) {
  make();
  std::vector<std::string> names;
  for (const NamedTensor& one : model_->buffers()) names.push_back(one.name);
  std::vector<std::string> expected{"frozen"};
  for (const json& name : wanted_["buffers"]) expected.push_back(name);
  EXPECT_EQ(names, expected);
}

TEST_F(TorchScriptTest, TensorsKeepTheirIdentitySoThatTheArenaCanTakeThem) {
  make();
  at::Tensor head = model_->parameters().back().tensor;
  at::Tensor moved = at::ones({3});
  head.set_data(moved);
  const at::Tensor target = at::ones({2}, at::kLong);
  const double before = model_->training_step(batch(target)).item<double>();
  moved[1] = 5;  // This is the bias of the right class.
  EXPECT_LT(model_->training_step(batch(target)).item<double>(), before);
}

TEST_F(TorchScriptTest, TheLossIsChosenByName) {
  make({{"loss", "mse"}});
  const at::Tensor target = at::ones({2, 3});
  const at::Tensor loss = model_->training_step(batch(target));
  EXPECT_GT(loss.item<double>(), 0);
  EXPECT_EQ(model_->evaluation_step(batch(target)).size(), 1u) << "no accuracy";
  EXPECT_THAT(testing::error_of([&] { model_->training_step(batch(at::ones({2}))); }).second,
              HasSubstr("loss 'mse' compares numbers one by one; forward returns [2, 3], the target has [2]"));
}

TEST_F(TorchScriptTest, WithoutTrustNothingIsLoaded) {
  EXPECT_THAT(
      error_of({{"trust", false}}),
      HasSubstr("net.pt' is not loaded: a TorchScript file is a program and runs with your rights; give trust = "
                "true if you know who made it"));
}

TEST_F(TorchScriptTest, WhatIsNoModuleIsNamed) {
  EXPECT_THAT(error_of(json::object(), folder_.path("no.pt")), HasSubstr("there is no file '"));
  EXPECT_THAT(error_of(json::object(), folder_.write("text.pt", "not a module")),
              HasSubstr("text.pt' is not a TorchScript file"));
  EXPECT_THAT(error_of({{"loss", "hinge"}}), HasSubstr("cross_entropy"));
}

TEST_F(TorchScriptTest, AnInputThatTheModuleCannotTakeIsNamedWithItsShape) {
  make();
  EXPECT_THAT(testing::error_of([&] {
                model_->training_step({"train", {at::ones({2, 5}), at::ones({2}, at::kLong)}});
              }).second,
              HasSubstr("failed for an input of shape [2, 5]"));
}

}  // namespace
}  // namespace trainyard
