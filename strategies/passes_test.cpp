// SPDX-License-Identifier: Apache-2.0
#include "strategies/passes.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/testing/error_of.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

/// Its loss is the sum of the products of weight and input.
class Product final : public Model {
 public:
  explicit Product(ModelContext& context) : Model(context) {}
  void build(const DatasetInfo&) override {}
  std::vector<NamedTensor> parameters() override { return {{"weight", weight_}}; }
  void set_training(bool) override {}
  at::Tensor training_step(const ModelBatch& batch) override { return (weight_ * batch.tensors[0]).sum(); }
  std::vector<NamedMetric> evaluation_step(const ModelBatch&) override { return {}; }

  at::Tensor weight_ = at::ones({4}).set_requires_grad(true);
};

/// Calls the work every time, with other tensors than it was given, as a recorder that repeats does.
class Rehearsal final : public WorkRecorder {
 public:
  at::Tensor run(const std::vector<at::Tensor>& inputs, const Work& work) override {
    ++calls;
    std::vector<at::Tensor> own;
    for (const at::Tensor& input : inputs) own.push_back(input.clone());
    result_ = work(own);
    return result_;
  }

  int calls = 0;

 private:
  at::Tensor result_;
};

class RecordedPassesTest : public ::testing::Test {
 protected:
  at::Tensor step(double input, double weight) {
    MicroBatch batch{.data = {"train", {at::full({4}, input)}}, .samples = 4, .weight = weight};
    batch.step = 7;
    return passes_.forward_and_backward(model_, batch);
  }

  ModelContext context_ = [] {
    ModelContext context;
    context.where = "model 'product'";
    context.parameters = "{}";
    return context;
  }();
  Product model_{context_};
  Rehearsal recorder_;
  Passes passes_{{.where = "test", .on_nan = OnNan::kStop, .recorder = &recorder_}};
};

TEST_F(RecordedPassesTest, TheRecorderGetsTheBatchAndTheWeightOfEveryStep) {
  EXPECT_EQ(step(2, 1).item<float>(), 8);
  EXPECT_EQ(model_.weight_.grad()[0].item<float>(), 2);
  EXPECT_EQ(step(3, 0.5).item<float>(), 12);
  EXPECT_EQ(model_.weight_.grad()[0].item<float>(), 2 + 1.5F);
  EXPECT_EQ(recorder_.calls, 2);
}

TEST_F(RecordedPassesTest, AStrategyThatComputesThePassesSeparatelyIsNoticedOnce) {
  int noticed = 0;
  Passes passes({.where = "test", .recorder = &recorder_, .on_unrecorded = [&] { ++noticed; }});
  MicroBatch batch{.data = {"train", {at::full({4}, 2.0)}}, .samples = 4, .weight = 1};
  passes.forward_and_backward(model_, batch);
  EXPECT_EQ(noticed, 0);
  for (int step = 0; step < 2; ++step) passes.backward(passes.forward(model_, batch), 1);
  EXPECT_EQ(noticed, 1);
  EXPECT_EQ(recorder_.calls, 1);
}

TEST_F(RecordedPassesTest, ALossThatIsKeptDoesNotChangeWithTheNextStep) {
  const at::Tensor first = step(2, 1);
  step(3, 1);
  EXPECT_EQ(first.item<float>(), 8);
}

TEST_F(RecordedPassesTest, ALossThatIsNotFiniteIsFoundAlthoughTheWorkIsRepeated) {
  const auto [code, text] = testing::error_of([&] { step(std::nan(""), 1); });
  EXPECT_EQ(code, Code::kInvalidArgument);
  EXPECT_THAT(text, HasSubstr("the loss is nan in step 7"));
}

}  // namespace
}  // namespace trainyard
