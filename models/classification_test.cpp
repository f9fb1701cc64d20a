// SPDX-License-Identifier: Apache-2.0
#include "models/classification.h"

#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing/error_of.h"
#include "messages/error.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

DatasetInfo images(std::uint64_t classes, std::vector<std::int64_t> target = {}) {
  DatasetInfo info;
  info.dataset = "digits";
  info.fields = {{"input", static_cast<std::uint8_t>(DType::kFloat32), {1, 4, 5}},
                 {"target", static_cast<std::uint8_t>(DType::kInt64), std::move(target)}};
  info.classes = classes;
  return info;
}

TEST(ClassificationTest, SizesComeFromTheDataset) {
  const ClassificationSizes sizes = classification_sizes(images(3), "model 'm'");
  EXPECT_THAT(sizes.input, ElementsAre(1, 4, 5));
  EXPECT_EQ(sizes.input_elements(), 20);
  EXPECT_EQ(sizes.classes, 3);
}

TEST(ClassificationTest, DataWithoutClassesIsRefusedWithWhatThereIs) {
  for (const DatasetInfo& data : {images(0), images(1), images(3, {2})}) {
    const auto [code, text] = testing::error_of([&] { classification_sizes(data, "model 'm'"); });
    EXPECT_EQ(code, Code::kShapeMismatch);
    EXPECT_THAT(text, HasSubstr("model 'm' needs an input, one class number as target, and 2 or more classes; dataset "
                                "'digits' has input float32 [1, 4, 5], target int64 ["));
  }
}

TEST(ClassificationTest, BytesBecomeNumbersUpToOneAndFloatsStayWhatTheyAre) {
  const at::Tensor bytes = at::tensor({0, 51, 255}, at::kByte);
  EXPECT_TRUE(float_input(bytes).equal(at::tensor({0.0f, 51 / 255.0f, 1.0f})));
  const at::Tensor floats = at::rand({3});
  EXPECT_TRUE(float_input(floats).is_same(floats));
  EXPECT_EQ(float_input(floats, at::kDouble).scalar_type(), at::kDouble);
}

TEST(ClassificationTest, TheLossOfSixteenBitsIsComputedInThirtyTwo) {
  const at::Tensor logits = at::rand({4, 3}).to(at::kBFloat16);
  const at::Tensor target = at::tensor({0, 1, 2, 1}, at::kLong);
  const at::Tensor loss = classification_loss(logits, target);
  EXPECT_EQ(loss.scalar_type(), at::kFloat);
  EXPECT_TRUE(loss.equal(at::cross_entropy_loss(logits.to(at::kFloat), target)));
}

TEST(ClassificationTest, MetricsAreTheLossAndTheShareOfRightAnswers) {
  const at::Tensor logits = at::tensor({1.0f, 0.0f, 0.0f, 1.0f, 1.0f, 0.0f, 1.0f, 0.0f}).view({4, 2});
  const std::vector<NamedMetric> metrics = classification_metrics(logits, at::tensor({0, 1, 1, 0}, at::kLong));
  ASSERT_EQ(metrics.size(), 2u);
  EXPECT_EQ(metrics[0].name, "loss");
  EXPECT_EQ(metrics[1].name, "accuracy");
  EXPECT_EQ(metrics[1].value.item<float>(), 0.75f);
}

TEST(ClassificationTest, APredictionNamesTheLikeliestClassWhereItHasAName) {
  const at::Tensor logits = at::tensor({0.0f, 9.0f, 0.0f, 0.0f, 0.0f, 9.0f}).view({2, 3});
  const Prediction prediction = classification_prediction(logits, {"cat", "dog"});
  EXPECT_THAT(prediction.text, ::testing::MatchesRegex("dog 1\\.000\n2 1\\.000\n"));
  ASSERT_EQ(prediction.tensors.size(), 2u);
  EXPECT_THAT(prediction.tensors[0].as<std::int64_t>(), ElementsAre(1, 2));
}

}  // namespace
}  // namespace trainyard
