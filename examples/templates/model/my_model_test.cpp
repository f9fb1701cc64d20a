// SPDX-License-Identifier: Apache-2.0
#include "models/my_model/my_model.h"

#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include "messages/dtype.h"

namespace example {
namespace {

/// Describes a dataset whose samples have six numbers and one of three classes.
trainyard::DatasetInfo data() {
  trainyard::DatasetInfo info;
  info.dataset = "test";
  info.fields = {{"input", static_cast<std::uint8_t>(trainyard::DType::kFloat32), {6}},
                 {"target", static_cast<std::uint8_t>(trainyard::DType::kInt64), {}}};
  info.classes = 3;
  return info;
}

class MyModelTest : public ::testing::Test {
 protected:
  MyModelTest() {
    context_.where = "model 'my_model'";
    context_.parameters = R"({"width": 5})";
  }

  trainyard::ModelContext context_;
  trainyard::ModelBatch batch_{"train", {at::randn({8, 6}), at::randint(3, {8}, at::kLong)}};
};

TEST_F(MyModelTest, HasParametersOfTheShapesThatTheDataNeeds) {
  MyModel model(context_);
  model.build(data());
  ASSERT_EQ(model.parameters().size(), 4u);
  EXPECT_EQ(model.parameters()[0].tensor.sizes(), at::IntArrayRef({5, 6}));
  EXPECT_EQ(model.parameters()[2].tensor.sizes(), at::IntArrayRef({3, 5}));
}

TEST_F(MyModelTest, EveryParameterGetsAGradient) {
  MyModel model(context_);
  model.build(data());
  const at::Tensor loss = model.training_step(batch_);
  EXPECT_EQ(loss.dim(), 0);
  loss.backward();
  for (const trainyard::NamedTensor& parameter : model.parameters()) {
    ASSERT_TRUE(parameter.tensor.grad().defined()) << parameter.name;
    EXPECT_GT(parameter.tensor.grad().abs().max().item<double>(), 0) << parameter.name;
  }
}

}  // namespace
}  // namespace example
