// SPDX-License-Identifier: Apache-2.0
#include "models/output_loss.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing/error_of.h"
#include "messages/error.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

double loss(OutputLoss kind, const at::Tensor& output, const at::Tensor& target) {
  return output_loss(kind, output, target, "model 'm'").item<double>();
}

TEST(OutputLossTest, EveryLossIsThatOfItsFormula) {
  const at::Tensor output = at::rand({2, 3});
  const at::Tensor classes = at::tensor({0L, 2L});
  const double entropy = at::cross_entropy_loss(output, classes).item<double>();
  EXPECT_NEAR(loss(OutputLoss::kCrossEntropy, output, classes), entropy, 1e-6);
  EXPECT_NEAR(loss(OutputLoss::kNll, at::log_softmax(output, 1), classes), entropy, 1e-6);
  const at::Tensor numbers = at::rand({2, 3});
  EXPECT_NEAR(loss(OutputLoss::kMse, output, numbers), (output - numbers).square().mean().item<double>(), 1e-6);
  EXPECT_NEAR(loss(OutputLoss::kL1, output, numbers), (output - numbers).abs().mean().item<double>(), 1e-6);
  const at::Tensor likely = output.sigmoid();
  const at::Tensor wanted = -(numbers * likely.log() + (1 - numbers) * (1 - likely).log());
  EXPECT_NEAR(loss(OutputLoss::kBceWithLogits, output, numbers), wanted.mean().item<double>(), 1e-6);
}

TEST(OutputLossTest, ATargetOfAsManyNumbersTakesTheShapeOfTheOutput) {
  const at::Tensor output = at::rand({4, 1});
  const at::Tensor target = at::rand({4});
  EXPECT_NEAR(loss(OutputLoss::kMse, output, target), (output.view(-1) - target).square().mean().item<double>(), 1e-6);
  const auto [code, text] = testing::error_of([&] { loss(OutputLoss::kMse, output, at::rand({3})); });
  EXPECT_EQ(code, Code::kShapeMismatch);
  EXPECT_THAT(text, HasSubstr("model 'm': loss 'mse' compares numbers one by one; forward returns [4, 1], the target "
                              "has [3]"));
}

TEST(OutputLossTest, OnlyClassesHaveAnAccuracy) {
  const at::Tensor output = at::rand({2, 3});
  EXPECT_EQ(output_metrics(OutputLoss::kCrossEntropy, output, at::tensor({0L, 2L}), "model 'm'").size(), 2u);
  EXPECT_EQ(output_metrics(OutputLoss::kMse, output, at::rand({2, 3}), "model 'm'").size(), 1u);
}

TEST(OutputLossTest, DataWithoutATargetIsRefused) {
  DatasetInfo data;
  data.dataset = "made up";
  data.fields = {{"input", 7, {6}}};
  const auto [code, text] = testing::error_of([&] { check_fields(OutputLoss::kMse, data, "model 'm'"); });
  EXPECT_EQ(code, Code::kShapeMismatch);
  EXPECT_EQ(text, "model 'm' needs two fields, input and target; dataset 'made up' has 1");
}

}  // namespace
}  // namespace trainyard
