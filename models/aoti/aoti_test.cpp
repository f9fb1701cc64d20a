// SPDX-License-Identifier: Apache-2.0
#include "models/aoti/aoti.h"

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/rand_like.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/null_sink.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/testing/error_of.h"
#include "core/testing/temporary_folder.h"
#include "messages/error.h"
#include "tensors/arena.h"

// testing/make_packages.py makes the packages once per build, and writes PyTorch's results into a file.
namespace trainyard {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const std::string kPackages = TRAINYARD_AOTI_PACKAGES;

Buffer zeroed(std::size_t bytes) {
  Buffer buffer = Buffer::heap(bytes);
  std::memset(buffer.data(), 0, bytes);
  return buffer;
}

class AotiTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string expected = kPackages + "/expected.json";
    if (!std::filesystem::exists(expected)) {
      GTEST_SKIP() << "needs a Python with the PyTorch of this LibTorch, which makes " << expected;
    }
    wanted_ = json::parse(std::ifstream(expected));
    data_.dataset = "made up";
    data_.fields = {{"input", 7, {6}}, {"target", 4, {}}};
    data_.classes = 3;
  }

  void make(const std::string& name = "net.pt2", const json& more = json::object()) {
    const std::string path = name.starts_with('/') ? name : kPackages + "/" + name;
    json parameters{{"path", path}, {"trust", true}};
    parameters.update(more);
    context_.where = "model 'aoti'";
    context_.parameters = parameters.dump();
    context_.log = std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::null_sink_mt>());
    model_ = std::make_unique<Aoti>(context_);
    model_->build(data_);
  }

  std::pair<Code, std::string> error_of(const std::string& name, const json& more = json::object()) {
    return testing::error_of([&] { make(name, more); });
  }

  std::pair<Code, std::string> error_for(const at::Tensor& input) {
    return testing::error_of([&] { evaluate({"validate", {input, at::randint(3, {input.size(0)}, at::kLong)}}); });
  }

  double evaluate(const ModelBatch& batch) {
    const at::NoGradGuard no_gradients;
    return model_->evaluation_step(batch).at(0).value.item<double>();
  }

  at::Tensor named(const std::string& name) {
    for (const auto& list : {model_->parameters(), model_->buffers()}) {
      for (const NamedTensor& one : list) {
        if (one.name == name) return one.tensor;
      }
    }
    throw Error(Code::kNotFound, "no tensor '{}'", name);
  }

  /// Computes the loss from the model's tensors with LibTorch.
  double loss_by_hand(const ModelBatch& batch) {
    const at::NoGradGuard no_gradients;
    at::Tensor x = at::linear(batch.tensors[0], named("hidden.weight"), named("hidden.bias"));
    x = at::batch_norm(x, named("norm.weight"), named("norm.bias"), named("norm.running_mean"),
                       named("norm.running_var"), false, 0.1, 1e-5, false);
    x = at::linear(at::relu(x), named("output.weight"), named("output.bias"));
    return at::cross_entropy_loss(x, batch.tensors[1]).item<double>();
  }

  /// The batch whose loss the script has written.
  static ModelBatch batch() {
    return {"validate", {at::arange(24, at::kFloat).view({4, 6}).div(24), at::tensor({0L, 2L, 1L, 1L})}};
  }

  std::vector<std::string> names(const std::vector<NamedTensor>& tensors) const {
    std::vector<std::string> all;
    for (const NamedTensor& one : tensors) all.push_back(one.name);
    return all;
  }

  json wanted_;
  DatasetInfo data_;
  ModelContext context_;
  std::unique_ptr<Aoti> model_;
};

TEST_F(AotiTest, TheLossIsThatOfPython) {
  make();
  EXPECT_NEAR(evaluate(batch()), wanted_["loss"].get<double>(), 1e-6);
  EXPECT_NEAR(loss_by_hand(batch()), wanted_["loss"].get<double>(), 1e-6);
}

TEST_F(AotiTest, ParametersAndBuffersAreThoseOfTheModuleInTheSameOrder) {
  make();
  EXPECT_EQ(names(model_->parameters()), wanted_["parameters"].get<std::vector<std::string>>());
  EXPECT_EQ(names(model_->buffers()), wanted_["buffers"].get<std::vector<std::string>>());
}

TEST_F(AotiTest, WithoutADescriptionTheFloatsAreTheParameters) {
  make("plain.pt2");
  EXPECT_EQ(names(model_->parameters()),
            (std::vector<std::string>{"hidden.bias", "hidden.weight", "norm.bias", "norm.running_mean",
                                      "norm.running_var", "norm.weight", "output.bias", "output.weight"}));
  EXPECT_NEAR(evaluate(batch()), wanted_["loss"].get<double>(), 1e-6);
}

TEST_F(AotiTest, TheWeightsAreReadInTheArenaSoThatThoseOfACheckpointCount) {
  make();
  const double before = evaluate(batch());
  const Arena arena(model_->parameters(), model_->buffers(), &zeroed);
  EXPECT_EQ(evaluate(batch()), before) << "moved into the arena, with the same values";
  {
    const at::NoGradGuard no_gradients;
    for (const auto& list : {model_->parameters(), model_->buffers()}) {
      for (const NamedTensor& one : list) {
        if (one.tensor.is_floating_point()) at::Tensor(one.tensor).copy_(at::rand_like(one.tensor));
      }
    }
  }
  EXPECT_NE(evaluate(batch()), before);
  EXPECT_NEAR(evaluate(batch()), loss_by_hand(batch()), 1e-5);
}

TEST_F(AotiTest, AWeightThatIsUsedInTwoPlacesHasTheFirstNameAndCanBeReplaced) {
  make("tied.pt2");
  EXPECT_EQ(names(model_->parameters()), wanted_["tied_parameters"].get<std::vector<std::string>>());
  EXPECT_NEAR(evaluate(batch()), wanted_["tied_loss"].get<double>(), 1e-6);
  const at::NoGradGuard no_gradients;
  at::Tensor(named("first.weight")).copy_(at::rand({6, 6}));
  at::Tensor x = batch().tensors[0];
  for (const char* bias : {"first.bias", "second.bias"})
    x = at::relu(at::linear(x, named("first.weight"), named(bias)));
  x = at::linear(x, named("output.weight"), named("output.bias"));
  EXPECT_NEAR(evaluate(batch()), at::cross_entropy_loss(x, batch().tensors[1]).item<double>(), 1e-5);
}

TEST_F(AotiTest, BatchesOfOtherSizesAreTakenIfThePackageTakesThem) {
  make();
  for (const std::int64_t rows : {wanted_["takes_one_sample"].get<bool>() ? 1 : 2, 7, 300}) {
    const ModelBatch other{"validate", {at::rand({rows, 6}), at::randint(3, {rows}, at::kLong)}};
    EXPECT_NEAR(evaluate(other), loss_by_hand(other), 1e-5) << rows;
  }
}

TEST_F(AotiTest, APredictionHasAClassForEverySample) {
  make();
  const Prediction prediction = model_->predict(batch());
  ASSERT_EQ(prediction.tensors.size(), 2u);
  EXPECT_EQ(prediction.tensors[0].shape, (std::vector<std::int64_t>{4}));
}

TEST_F(AotiTest, TrainingIsRefusedWithTheModelToUseInstead) {
  make();
  const auto [code, text] = testing::error_of([&] { model_->training_step(batch()); });
  EXPECT_EQ(code, Code::kUnsupported);
  EXPECT_THAT(text, HasSubstr("net.pt2' cannot be trained, because an AOTInductor package computes the forward pass "
                              "only; train the module with the model 'torchscript'"));
}

TEST_F(AotiTest, AnInputOfAnotherShapeIsRefused) {
  make();
  for (const at::Tensor& input : {at::ones({4, 5}), at::ones({4, 6, 1})}) {
    const auto [code, text] = error_for(input);
    EXPECT_EQ(code, Code::kShapeMismatch) << text;
    EXPECT_THAT(text, HasSubstr("net.pt2' does not compute with an input of shape [4, "));
  }
  EXPECT_NEAR(evaluate(batch()), wanted_["loss"].get<double>(), 1e-6) << "it still computes afterwards";
}

TEST_F(AotiTest, WithoutTrustNothingIsLoaded) {
  const auto [code, text] = error_of("net.pt2", {{"trust", false}});
  EXPECT_EQ(code, Code::kInvalidArgument);
  EXPECT_THAT(text, HasSubstr("net.pt2' is not loaded: an AOTInductor package contains machine code"));
}

TEST_F(AotiTest, WhatIsNoPackageIsNamed) {
  const testing::TemporaryFolder folder;
  EXPECT_EQ(error_of("no.pt2").first, Code::kNotFound);
  EXPECT_THAT(error_of("no.pt2").second, HasSubstr("there is no file '"));
  const auto [code, text] = error_of(folder.write("text.pt2", "not a package"));
  EXPECT_EQ(code, Code::kCorrupt);
  EXPECT_THAT(text, HasSubstr("text.pt2' is not an AOTInductor package"));
}

TEST_F(AotiTest, APackageForAnotherDeviceIsRefused) {
  if (at::globalContext().hasCUDA()) GTEST_SKIP() << "this machine has a device of this kind";
  const auto [code, text] = error_of("cuda.pt2");
  EXPECT_EQ(code, Code::kUnsupported) << text;
  EXPECT_THAT(text, HasSubstr("cuda.pt2' was compiled for the device 'cuda', and there is no such device here"));
}

TEST_F(AotiTest, AWeightThatIsCompiledIntoTheCodeIsRefused) {
  const auto [code, text] = error_of("incomplete.pt2");
  EXPECT_EQ(code, Code::kUnsupported);
  EXPECT_THAT(text, HasSubstr("the values of 'output.scale' cannot be replaced"));
  EXPECT_THAT(text, HasSubstr("always_keep_tensor_constants"));
}

TEST_F(AotiTest, SeveralIntegersThatThePackageLacksAreRefusedToo) {
  const auto [code, text] = error_of("integers.pt2");
  EXPECT_EQ(code, Code::kUnsupported);
  EXPECT_THAT(text, HasSubstr("the values of 'output.order' cannot be replaced"));
}

TEST_F(AotiTest, ADescriptionThatDoesNotFitThePackageIsRefused) {
  const auto is_refused = [this](const std::string& name, const std::string& why) {
    const auto [code, text] = error_of(name);
    EXPECT_EQ(code, Code::kCorrupt) << name << ": " << text;
    EXPECT_THAT(text, HasSubstr(why)) << name;
  };
  is_refused("type.pt2", "describes tensor 'hidden.weight' as float64 [8, 6], and the package has float32 [8, 6]");
  is_refused("shape.pt2", "describes tensor 'hidden.weight' as float32 [6, 8], and the package has float32 [8, 6]");
  is_refused("negative.pt2", "the shape of 'hidden.weight' is [8, -6], and no size can be negative");
  is_refused("trained.pt2", "tensor 'steps' is trained, but its type is int64");
  is_refused("unnamed.pt2", "is not a list of [names, type, shape, trained]: a tensor has no name");
}

TEST_F(AotiTest, APrecisionThatThePackageWasNotCompiledForIsRefused) {
  make();
  for (const NamedTensor& one : model_->parameters())
    at::Tensor(one.tensor).set_data(one.tensor.detach().to(at::kDouble));
  const auto [code, text] = error_for(at::ones({4, 6}));
  EXPECT_EQ(code, Code::kTypeMismatch) << text;
  EXPECT_THAT(text, HasSubstr("tensor 'hidden.weight' is Double with the precision of this run"));
}

}  // namespace
}  // namespace trainyard
