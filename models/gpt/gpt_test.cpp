// SPDX-License-Identifier: Apache-2.0
#include "models/gpt/gpt.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/softmax.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "messages/error.h"

namespace trainyard {
namespace {

ModelContext context(const std::string& parameters = "{}") {
  ModelContext context;
  context.where = "model 'gpt'";
  context.parameters = parameters;
  return context;
}

DatasetInfo characters(std::int64_t length, std::vector<std::string> vocabulary) {
  DatasetInfo data;
  data.dataset = "text";
  data.fields = {{"input", 4, {length}}, {"target", 4, {length}}};
  data.classes = vocabulary.size();
  data.vocabulary = std::move(vocabulary);
  return data;
}

std::vector<std::string> letters(int count) {
  std::vector<std::string> all{"\n"};
  for (int i = 1; i < count; ++i) all.push_back(std::string(1, static_cast<char>('a' + i - 1)));
  return all;
}

using Named = std::map<std::string, at::Tensor>;

Named by_name(const std::vector<NamedTensor>& parameters) {
  Named all;
  for (const NamedTensor& parameter : parameters) all[parameter.name] = parameter.tensor;
  return all;
}

/// Computes nanoGPT's model with LibTorch's own operations, for comparison.
at::Tensor plain_loss(const Named& p, int layers, int heads, const at::Tensor& input, const at::Tensor& target) {
  const std::int64_t batch = input.size(0), tokens = input.size(1), width = p.at("transformer.wte.weight").size(1);
  const auto get = [&](const std::string& name) {
    const auto found = p.find(name);
    return found == p.end() ? at::Tensor() : found->second;
  };
  const auto norm = [&](const at::Tensor& x, const std::string& name) {
    return at::layer_norm(x, {width}, get(name + ".weight"), get(name + ".bias"));
  };
  const auto linear = [&](const at::Tensor& x, const std::string& name) {
    return at::linear(x, get(name + ".weight"), get(name + ".bias"));
  };
  at::Tensor x =
      at::embedding(get("transformer.wte.weight"), input) + get("transformer.wpe.weight").narrow(0, 0, tokens);
  for (int i = 0; i < layers; ++i) {
    const std::string block = "transformer.h." + std::to_string(i) + ".";
    const at::Tensor qkv = linear(norm(x, block + "ln_1"), block + "attn.c_attn");
    const auto part = [&](int index) {
      return qkv.narrow(2, index * width, width).reshape({batch, tokens, heads, width / heads}).transpose(1, 2);
    };
    at::Tensor scores = at::matmul(part(0), part(1).transpose(-2, -1)) / std::sqrt(double(width) / heads);
    scores = scores.masked_fill(at::ones({tokens, tokens}).tril().eq(0), -INFINITY);
    const at::Tensor attended = at::matmul(at::softmax(scores, -1), part(2)).transpose(1, 2).reshape(x.sizes());
    x = x + linear(attended, block + "attn.c_proj");
    x = x + linear(at::gelu(linear(norm(x, block + "ln_2"), block + "mlp.c_fc")), block + "mlp.c_proj");
  }
  const at::Tensor logits = at::linear(norm(x, "transformer.ln_f"), get("transformer.wte.weight"));
  return at::cross_entropy_loss(logits.view({batch * tokens, -1}), target.view(-1));
}

struct Case {
  const char* parameters;
  int layers, heads;
  at::ScalarType type;
  double tolerance;
};

class GptOracleTest : public testing::TestWithParam<Case> {};

TEST_P(GptOracleTest, LossAndGradientsEqualThePlainFormula) {
  const Case& given = GetParam();
  ModelContext made = context(given.parameters);
  Gpt model(made);
  model.build(characters(20, letters(13)));
  const Named ours = by_name(model.parameters());
  Named theirs;
  for (const auto& [name, tensor] : ours) {
    // The values are larger than initial values, so that every part of the network influences the result.
    tensor.set_data((tensor.detach() * 4 + at::randn(tensor.sizes()) * 0.05).to(given.type));
    theirs[name] = tensor.detach().clone().set_requires_grad(true);
  }
  const at::Tensor input = at::randint(13, {3, 20}, at::kLong);
  const at::Tensor target = at::randint(13, {3, 20}, at::kLong);
  const at::Tensor loss = model.training_step({"train", {input, target}});
  const at::Tensor expected = plain_loss(theirs, given.layers, given.heads, input, target);
  EXPECT_NEAR(loss.item<double>(), expected.item<double>(), given.tolerance);
  loss.backward();
  expected.backward();
  for (const auto& [name, tensor] : ours) {
    const double largest = (tensor.grad() - theirs[name].grad()).abs().max().item<double>();
    EXPECT_LE(largest, given.tolerance) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, GptOracleTest,
    testing::Values(Case{R"({"layers": 2, "heads": 2, "width": 32})", 2, 2, at::kFloat, 1e-4},
                    Case{R"({"layers": 2, "heads": 2, "width": 32})", 2, 2, at::kDouble, 1e-10},
                    Case{R"({"layers": 3, "heads": 1, "width": 64, "bias": true})", 3, 1, at::kDouble, 1e-10},
                    Case{R"({"layers": 1, "heads": 3, "width": 30, "bias": true})", 1, 3, at::kDouble, 1e-10}),
    [](const auto& info) { return "Case" + std::to_string(info.index); });

TEST(GptTest, HasNanoGptsTensorsAndInitialisation) {
  ModelContext made = context();
  Gpt model(made);
  DatasetInfo data = characters(64, letters(27));
  data.classes = 65;
  model.build(data);
  std::int64_t count = 0;
  for (const NamedTensor& parameter : model.parameters()) count += parameter.tensor.numel();
  EXPECT_EQ(count, 795'904 + 64 * 128) << "nanoGPT reports 0.80 M, without positions";
  const Named all = by_name(model.parameters());
  EXPECT_EQ(all.at("transformer.h.3.attn.c_attn.weight").sizes(), at::IntArrayRef({384, 128}));
  EXPECT_NEAR(all.at("transformer.h.0.mlp.c_fc.weight").std().item<double>(), 0.02, 0.001);
  EXPECT_NEAR(all.at("transformer.h.0.mlp.c_proj.weight").std().item<double>(), 0.02 / std::sqrt(8), 0.0005);
  EXPECT_TRUE(all.at("transformer.ln_f.weight").equal(at::ones({128})));
  EXPECT_EQ(all.count("transformer.ln_f.bias"), 0u);
}

TEST(GptTest, TheFirstLossIsThatOfGuessing) {
  ModelContext made = context();
  Gpt model(made);
  model.build(characters(16, letters(20)));
  const at::Tensor tokens = at::randint(20, {4, 16}, at::kLong);
  const at::Tensor target = at::randint(20, {4, 16}, at::kLong);
  EXPECT_NEAR(model.training_step({"train", {tokens, target}}).item<double>(), std::log(20), 0.2);
}

TEST(GptTest, TheSameStepTwiceIsTheSameBitForBit) {
  ModelContext made = context();
  Gpt model(made);
  model.build(characters(64, letters(20)));
  const at::Tensor tokens = at::randint(20, {6, 64}, at::kLong);
  std::vector<at::Tensor> first;
  for (int run = 0; run < 2; ++run) {
    at::set_num_threads(run == 0 ? 1 : 3);
    model.training_step({"train", {tokens, tokens}}).backward();
    for (const NamedTensor& parameter : model.parameters()) {
      if (run == 0) first.push_back(parameter.tensor.grad().clone());
      parameter.tensor.mutable_grad() = at::Tensor();
    }
  }
  at::set_num_threads(1);
  // A second pass in the same state is compared with the first.
  model.training_step({"train", {tokens, tokens}}).backward();
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_TRUE(model.parameters()[i].tensor.grad().equal(first[i])) << i;
}

TEST(GptTest, DropoutWorksInTrainingOnly) {
  ModelContext made = context(R"({"layers": 1, "width": 32, "heads": 2, "dropout": 0.5})");
  Gpt model(made);
  model.build(characters(16, letters(20)));
  const at::Tensor tokens = at::randint(20, {4, 16}, at::kLong);
  const auto loss = [&] { return model.training_step({"train", {tokens, tokens}}).item<double>(); };
  EXPECT_NE(loss(), loss());
  model.set_training(false);
  EXPECT_EQ(loss(), loss());
}

TEST(GptTest, GeneratesTextThatGoesOnFromThePrompt) {
  ModelContext made = context(R"({"layers": 1, "width": 32, "heads": 2, "sample_tokens": 30, "prompt": "abc"})");
  Gpt model(made);
  model.build(characters(8, letters(10)));
  model.set_training(false);
  const at::NoGradGuard no_gradients;
  const Prediction said = model.predict({"predict", {}});
  EXPECT_EQ(said.text.size(), 33u) << "longer than the context";
  EXPECT_THAT(said.text, testing::StartsWith("abc"));
  EXPECT_EQ(said.text.find_first_not_of("\nabcdefghi"), std::string::npos);
}

TEST(GptTest, WithoutTemperatureTheLikeliestTokenIsTaken) {
  ModelContext made = context(R"({"layers": 1, "width": 32, "heads": 2, "sample_tokens": 12, "temperature": 0})");
  Gpt model(made);
  model.build(characters(8, letters(10)));
  const at::NoGradGuard no_gradients;
  EXPECT_EQ(model.predict({"predict", {}}).text, model.predict({"predict", {}}).text);
}

TEST(GptTest, APromptOutsideTheVocabularyIsRefusedWithTheCharacter) {
  ModelContext made = context(R"({"prompt": "ab7"})");
  Gpt model(made);
  model.build(characters(8, letters(10)));
  try {
    model.predict({"predict", {}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "prompt: no token begins with '7' (byte 2); the vocabulary has 10 entries");
  }
}

TEST(GptTest, LongerTokensAreEncodedFirst) {
  const std::vector<std::string> vocabulary{"a", "b", "ab", "\xc3\xa9"};
  EXPECT_THAT(gpt::encode("abba\xc3\xa9", vocabulary), testing::ElementsAre(2, 1, 0, 3));
  EXPECT_EQ(gpt::decode({2, 1, 0, 3, 9}, vocabulary), "abba\xc3\xa9<9>");
}

TEST(GptTest, WhatDoesNotFitIsRefusedWithWhatThereIs) {
  ModelContext made = context(R"({"width": 30, "heads": 4})");
  Gpt model(made);
  try {
    model.build(characters(8, letters(10)));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "model 'gpt': width = 30 cannot be shared by heads = 4; heads must divide the width");
  }
  DatasetInfo images;
  images.dataset = "idx";
  images.fields = {{"input", 7, {28, 28}}, {"target", 4, {}}};
  images.classes = 10;
  EXPECT_THROW(model.build(images), Error);
}

}  // namespace
}  // namespace trainyard
