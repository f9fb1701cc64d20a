// SPDX-License-Identifier: Apache-2.0
#include "transforms/my_transform/my_transform.h"

#include <gtest/gtest.h>

#include <vector>

#include "messages/dtype.h"

namespace example {
namespace {

class MyTransformTest : public ::testing::Test {
 protected:
  MyTransformTest() {
    context_.where = "transform 'my_transform'";
    context_.parameters = R"({"factor": 2, "spread": 0.5})";
  }

  static trainyard::DatasetField field(trainyard::DType type) {
    return {"input", static_cast<std::uint8_t>(type), {2}};
  }

  static std::vector<float> apply(const MyTransform& transform, trainyard::TransformRandom* random) {
    const std::vector<float> input{1, -3};
    std::vector<float> output(2);
    transform.apply(std::as_bytes(std::span(input)), std::as_writable_bytes(std::span(output)), random);
    return output;
  }

  trainyard::TransformContext context_;
};

TEST_F(MyTransformTest, MultipliesByTheFactorInEvaluations) {
  MyTransform transform(context_);
  EXPECT_EQ(transform.prepare(field(trainyard::DType::kFloat32)).shape, std::vector<std::int64_t>{2});
  EXPECT_EQ(apply(transform, nullptr), (std::vector<float>{2, -6}));
}

TEST_F(MyTransformTest, VariesTheFactorInTraining) {
  MyTransform transform(context_);
  transform.prepare(field(trainyard::DType::kFloat32));
  trainyard::TransformRandom random(7);
  const float first = apply(transform, &random)[0];
  EXPECT_GE(first, 1);
  EXPECT_LE(first, 3);
  EXPECT_NE(apply(transform, &random)[0], first);
}

TEST_F(MyTransformTest, RefusesAFieldOfAnotherType) {
  MyTransform transform(context_);
  EXPECT_THROW(transform.prepare(field(trainyard::DType::kUInt8)), trainyard::Error);
}

}  // namespace
}  // namespace example
