// SPDX-License-Identifier: Apache-2.0
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/null_sink.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/plugin/loader.h"
#include "core/testing/error_of.h"
#include "core/testing/plugins.h"
#include "messages/dtype.h"
#include "models/model.h"
#include "models/testing/contract.h"
#include "tensors/bridge.h"

// Tests the rules that every model must obey, on all model plugins of the build, including those that are added later.

namespace trainyard {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kClasses = 3;

/// Returns the descriptions of the test's datasets, one for each kind of data. A model need not accept all of them.
std::vector<DatasetInfo> all_data() {
  const auto data = [](const char* name, DatasetField input, DatasetField target, std::uint64_t classes) {
    DatasetInfo info;
    info.dataset = name;
    info.batch_size = 4;
    info.splits = {{"train", 100, 25}, {"validate", 20, 5}};
    info.fields = {std::move(input), std::move(target)};
    info.classes = classes;
    for (std::uint64_t i = 0; i < classes; ++i) info.vocabulary.push_back(std::string(1, static_cast<char>('a' + i)));
    return info;
  };
  const auto field = [](const char* name, DType dtype, std::vector<std::int64_t> shape) {
    return DatasetField{name, static_cast<std::uint8_t>(dtype), std::move(shape)};
  };
  const DatasetField number = field("target", DType::kInt64, {});
  return {
      data("vectors", field("input", DType::kFloat32, {6}), number, kClasses),
      data("numbers", field("input", DType::kFloat32, {6}), field("target", DType::kFloat32, {2}), 0),
      data("images", field("input", DType::kUInt8, {3, 16, 16}), number, kClasses),
      data("tokens", field("input", DType::kInt64, {8}), field("target", DType::kInt64, {8}), kClasses),
  };
}

at::Tensor random_field(const DatasetField& field, std::int64_t rows) {
  std::vector<std::int64_t> shape = field.shape;
  shape.insert(shape.begin(), rows);
  switch (static_cast<DType>(field.dtype)) {
    case DType::kFloat32:
      return at::rand(shape);
    case DType::kUInt8:
      return at::randint(256, shape, at::kByte);
    default:
      return at::randint(kClasses, shape, at::kLong);
  }
}

void seed(std::uint64_t seed) { at::Generator(at::detail::getDefaultCPUGenerator()).set_current_seed(seed); }

at::Tensor generator_state() { return at::Generator(at::detail::getDefaultCPUGenerator()).get_state(); }

std::vector<at::Tensor> copies(const std::vector<NamedTensor>& tensors) {
  std::vector<at::Tensor> copies;
  for (const NamedTensor& named : tensors) copies.push_back(named.tensor.detach().clone());
  return copies;
}

bool are_equal(const std::vector<at::Tensor>& one, const std::vector<at::Tensor>& other) {
  return std::ranges::equal(one, other, [](const at::Tensor& a, const at::Tensor& b) { return a.equal(b); });
}

std::vector<std::string> names_of(const std::vector<NamedTensor>& tensors) {
  std::vector<std::string> names;
  for (const NamedTensor& named : tensors) names.push_back(named.name);
  return names;
}

class ModelContractTest : public ::testing::TestWithParam<std::string> {
 protected:
  ModelContractTest() {
    context_.where = "model '" + GetParam() + "'";
    context_.log = std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::null_sink_mt>());
    context_.seed = 7;
  }

  void SetUp() override {
    if (!case_.skipped.empty()) GTEST_SKIP() << case_.skipped;
  }

  std::unique_ptr<Model> make() {
    context_.parameters = case_.parameters;
    auto model = plugins_.create<Model>(GetParam(), context_);
    model->check_all_given_are_known();
    return model;
  }

  std::unique_ptr<Model> built(const DatasetInfo& data, std::uint64_t with_seed = 7) {
    auto model = make();
    seed(with_seed);
    model->build(data);
    return model;
  }

  bool may_take(const DatasetInfo& data) const {
    return case_.data.empty() || std::ranges::find(case_.data, data.dataset) != case_.data.end();
  }

  /// Returns the datasets that the model accepts. If the list is empty, the function has made the test fail.
  std::vector<DatasetInfo> fitting() {
    std::vector<DatasetInfo> fitting;
    std::string refusals;
    for (const DatasetInfo& data : all_data()) {
      if (!may_take(data)) continue;
      try {
        built(data);
        fitting.push_back(data);
      } catch (const Error& error) {
        refusals += std::string("\n  ") + error.what();
      }
    }
    EXPECT_FALSE(fitting.empty()) << "the model '" << GetParam() << "' takes none of the contract's data with the "
                                  << "parameters " << case_.parameters << ":" << refusals << "\nAdd the file models/"
                                  << GetParam() << "/testing/contract.cpp with a ModelContract that gives parameters; "
                                  << "models/torchscript/testing/contract.cpp shows how.";
    return fitting;
  }

  static ModelBatch batch(const DatasetInfo& data, std::int64_t rows = 4) {
    seed(3);
    ModelBatch batch{.split = "train", .tensors = {}};
    for (const DatasetField& field : data.fields) batch.tensors.push_back(random_field(field, rows));
    return batch;
  }

  testing::TemporaryFolder folder_;
  testing::ModelCase case_ = testing::ModelContract::of(GetParam(), folder_);
  core::PluginLoader plugins_{core::PluginLoader::default_directories()};
  ModelContext context_;
};

TEST_P(ModelContractTest, DataThatDoesNotFitIsRefusedWithWhatIsNeededAndWhatThereIs) {
  for (const DatasetInfo& data : all_data()) {
    if (!may_take(data)) continue;
    const auto [code, text] = testing::error_of([&] { built(data); });
    if (text.empty()) continue;
    EXPECT_EQ(code, Code::kShapeMismatch) << text;
    EXPECT_THAT(text, HasSubstr("model '" + GetParam() + "' needs"));
    EXPECT_THAT(text, HasSubstr("dataset '" + data.dataset + "' has"));
  }
}

TEST_P(ModelContractTest, TheSameSeedGivesTheSameParameters) {
  for (const DatasetInfo& data : fitting()) {
    const auto first = built(data);
    const auto second = built(data);
    EXPECT_EQ(names_of(second->parameters()), names_of(first->parameters()));
    EXPECT_TRUE(are_equal(copies(second->parameters()), copies(first->parameters()))) << data.dataset;
    EXPECT_TRUE(are_equal(copies(second->buffers()), copies(first->buffers()))) << data.dataset;
  }
}

TEST_P(ModelContractTest, ParametersAreLeavesWithNamesOfTheirOwn) {
  for (const DatasetInfo& data : fitting()) {
    const auto model = built(data);
    std::set<std::string> names;
    EXPECT_FALSE(model->parameters().empty());
    for (const auto& [name, tensor] : model->parameters()) {
      EXPECT_TRUE(names.insert(name).second) << name << " twice";
      EXPECT_TRUE(tensor.is_leaf() && tensor.requires_grad()) << name;
      EXPECT_TRUE(tensor.is_cpu() && tensor.scalar_type() == at::kFloat) << name;
    }
    for (const auto& [name, tensor] : model->buffers()) {
      EXPECT_TRUE(names.insert(name).second) << name << " twice";
      EXPECT_FALSE(tensor.requires_grad()) << name;
    }
  }
}

TEST_P(ModelContractTest, AModelThatDoesNotTrainRefusesIt) {
  if (case_.trains) GTEST_SKIP() << "the model trains";
  for (const DatasetInfo& data : fitting()) {
    const auto model = built(data);
    model->set_training(true);
    const auto [code, text] = testing::error_of([&] { model->training_step(batch(data)); });
    EXPECT_EQ(code, Code::kUnsupported) << text;
    EXPECT_THAT(text, HasSubstr("model '" + GetParam() + "'"));
  }
}

TEST_P(ModelContractTest, ATrainingStepHasAFiniteLossAndGradientsForAllParameters) {
  if (!case_.trains) GTEST_SKIP() << "the model only evaluates and predicts";
  for (const DatasetInfo& data : fitting()) {
    for (const std::int64_t rows : {4, 1}) {
      const auto model = built(data);
      model->set_training(true);
      const std::vector<at::Tensor> before = copies(model->parameters());
      const at::Tensor loss = model->training_step(batch(data, rows));
      ASSERT_EQ(loss.dim(), 0) << data.dataset;
      EXPECT_TRUE(std::isfinite(loss.item<double>())) << data.dataset;
      loss.backward();
      for (const auto& [name, tensor] : model->parameters()) {
        ASSERT_TRUE(tensor.grad().defined()) << data.dataset << ": " << name << " takes no part in the loss";
        EXPECT_TRUE(at::isfinite(tensor.grad()).all().item<bool>()) << data.dataset << ": " << name;
      }
      EXPECT_TRUE(are_equal(copies(model->parameters()), before)) << "the optimizer alone changes parameters";
    }
  }
}

TEST_P(ModelContractTest, TheSameSeedAndBatchGiveTheSameLoss) {
  if (!case_.trains) GTEST_SKIP() << "the model only evaluates and predicts";
  for (const DatasetInfo& data : fitting()) {
    std::vector<at::Tensor> losses;
    for (int i = 0; i < 2; ++i) {
      const auto model = built(data);
      model->set_training(true);
      losses.push_back(model->training_step(batch(data)).detach());
    }
    EXPECT_TRUE(losses[0].equal(losses[1])) << data.dataset;
  }
}

TEST_P(ModelContractTest, ParametersMayBeMovedIntoOtherMemoryAfterTheyWereBuilt) {
  for (const DatasetInfo& data : fitting()) {
    const auto model = built(data);
    model->set_training(false);
    const at::NoGradGuard no_gradients;
    const at::Tensor before = model->evaluation_step(batch(data)).at(0).value.clone();
    for (const std::vector<NamedTensor>& tensors : {model->parameters(), model->buffers()}) {
      for (const NamedTensor& named : tensors) at::Tensor(named.tensor).set_data(named.tensor.detach().clone());
    }
    EXPECT_TRUE(model->evaluation_step(batch(data)).at(0).value.equal(before)) << data.dataset;
    for (const NamedTensor& named : model->parameters()) at::Tensor(named.tensor).set_data(named.tensor.detach() * 0.5);
    EXPECT_FALSE(model->evaluation_step(batch(data)).at(0).value.equal(before))
        << data.dataset << ": the model computes with tensors that parameters() does not give";
  }
}

TEST_P(ModelContractTest, EvaluationChangesNothingAndBeginsWithTheLoss) {
  for (const DatasetInfo& data : fitting()) {
    const auto model = built(data);
    model->set_training(false);
    const auto everything = [&] {
      std::vector<at::Tensor> all = copies(model->parameters());
      const std::vector<at::Tensor> buffers = copies(model->buffers());
      all.insert(all.end(), buffers.begin(), buffers.end());
      return all;
    };
    const std::vector<at::Tensor> before = everything();
    const ModelBatch samples = batch(data);
    const at::Tensor generator = generator_state();
    const at::NoGradGuard no_gradients;
    const std::vector<NamedMetric> first = model->evaluation_step(samples);
    const std::vector<NamedMetric> second = model->evaluation_step(samples);
    ASSERT_FALSE(first.empty());
    EXPECT_EQ(first[0].name, "loss");
    ASSERT_EQ(second.size(), first.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_EQ(second[i].name, first[i].name);
      EXPECT_EQ(first[i].value.dim(), 0) << first[i].name;
      EXPECT_TRUE(second[i].value.equal(first[i].value)) << first[i].name;
    }
    EXPECT_TRUE(are_equal(everything(), before)) << data.dataset;
    EXPECT_TRUE(generator_state().equal(generator)) << "an evaluation draws no random numbers";
  }
}

TEST_P(ModelContractTest, APredictionHasARowForEverySampleOrTheModelSaysThatItCannot) {
  for (const DatasetInfo& data : fitting()) {
    const auto model = built(data);
    model->set_training(false);
    const std::vector<at::Tensor> before = copies(model->parameters());
    const at::NoGradGuard no_gradients;
    Prediction prediction;
    const auto [code, text] = testing::error_of([&] { prediction = model->predict(batch(data, 3)); });
    if (!text.empty()) {
      EXPECT_EQ(code, Code::kUnsupported) << text;
      EXPECT_THAT(text, HasSubstr("model '" + GetParam() + "'"));
      continue;
    }
    EXPECT_FALSE(prediction.text.empty() && prediction.tensors.empty()) << data.dataset;
    EXPECT_EQ(prediction.text.empty(), prediction.title.empty()) << "a text has a headline";
    for (const Tensor& tensor : prediction.tensors) {
      ASSERT_FALSE(tensor.shape.empty());
      EXPECT_EQ(tensor.shape[0], 3) << data.dataset;
    }
    EXPECT_TRUE(are_equal(copies(model->parameters()), before)) << data.dataset;
  }
}

TEST_P(ModelContractTest, WhatItGeneratesFromNothingIsATextOrItSaysThatItCannot) {
  for (const DatasetInfo& data : fitting()) {
    const auto model = built(data);
    model->set_training(false);
    const at::NoGradGuard no_gradients;
    Prediction prediction;
    const auto [code, text] = testing::error_of([&] { prediction = model->predict({.split = "test", .tensors = {}}); });
    if (text.empty()) {
      EXPECT_FALSE(prediction.text.empty() && prediction.tensors.empty());
    } else {
      EXPECT_EQ(code, Code::kUnsupported) << text;
    }
  }
}

TEST_P(ModelContractTest, ItsStagesTogetherAreTheModel) {
  for (const DatasetInfo& data : fitting()) {
    const auto model = built(data);
    if (model->stages().empty()) {
      const auto [code, text] = testing::error_of([&] { model->loss({}, {}); });
      EXPECT_EQ(code, Code::kUnsupported) << "a model of one piece says so: " << text;
      continue;
    }
    std::set<std::string> named;
    for (const Stage& stage : model->stages()) {
      for (const NamedTensor& parameter : stage.parameters) named.insert(parameter.name);
    }
    const std::vector<std::string> all = names_of(model->parameters());
    EXPECT_EQ(named, std::set<std::string>(all.begin(), all.end())) << data.dataset;
    model->set_training(false);
    const at::NoGradGuard no_gradients;
    const ModelBatch samples = batch(data);
    at::Tensor stream = model->stage_input(samples);
    for (const Stage& stage : model->stages()) {
      stream = stage.forward(stream);
      EXPECT_EQ(stream.size(0), 4) << stage.name << ": samples are the first dimension";
    }
    EXPECT_TRUE(model->loss(stream, samples).allclose(model->training_step(samples))) << data.dataset;
    const std::vector<NamedMetric> of_stages = model->metrics(stream, samples);
    const std::vector<NamedMetric> of_model = model->evaluation_step(samples);
    ASSERT_EQ(of_stages.size(), of_model.size());
    for (std::size_t i = 0; i < of_model.size(); ++i) {
      EXPECT_EQ(of_stages[i].name, of_model[i].name);
      EXPECT_TRUE(of_stages[i].value.allclose(of_model[i].value)) << of_model[i].name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryModel, ModelContractTest, ::testing::ValuesIn(testing::plugins_of_kind(Model::kKind)),
                         [](const auto& info) { return testing::camel_case(info.param); });

}  // namespace
}  // namespace trainyard
