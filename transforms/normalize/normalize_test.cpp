// SPDX-License-Identifier: Apache-2.0
#include "transforms/normalize/normalize.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "core/testing/python.h"
#include "datasets/testing/dataset_testing.h"
#include "transforms/testing/transform_testing.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::Prepared;

TEST(NormalizeTest, BytesAreScaledThenNormalisedPerChannel) {
  const Prepared<Normalize> normalize(R"({"mean": [0, 0.5], "std": [1, 0.25]})", DType::kUInt8, {2, 1, 2});
  EXPECT_EQ(normalize.output().dtype, static_cast<std::uint8_t>(DType::kFloat32));
  EXPECT_THAT(normalize.output().shape, ElementsAre(2, 1, 2));
  EXPECT_THAT(normalize.apply<float>(std::vector<std::uint8_t>{0, 255, 0, 255}), ElementsAre(0, 1, -2, 2));
}

TEST(NormalizeTest, FloatsAreTakenAsTheyAreAndOneValueIsForAll) {
  const Prepared<Normalize> normalize(R"({"mean": [1], "std": [2]})", DType::kFloat32, {3});
  EXPECT_THAT(normalize.apply<float>(std::vector<float>{1, 2, -5}), ElementsAre(0, 0.5, -3));
}

/// Compares the result for every byte, with the constants of ImageNet, with a float32 computation in numpy that does
/// the same as torchvision's ToTensor and Normalize.
TEST(NormalizeTest, GivesTheBitsOfNumpyInSinglePrecision) {
  if (!testing::python_has("numpy")) GTEST_SKIP() << "needs /usr/bin/python3 with numpy (Debian: python3-numpy)";
  const std::string printed = testing::python(R"(
import numpy
f = numpy.float32
x = numpy.tile(numpy.arange(256, dtype=numpy.uint8), (3, 1)).astype(f) / f(255)
y = (x - numpy.array([[0.485], [0.456], [0.406]], f)) / numpy.array([[0.229], [0.224], [0.225]], f)
print(*y.ravel().view(numpy.uint32), end="")
)",
                                              "");
  const Prepared<Normalize> normalize(R"({"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]})", DType::kUInt8,
                                      {3, 16, 16});
  std::string ours;
  for (const float value : normalize.apply<float>(testing::counting<std::uint8_t>(768))) {
    ours += fmt::format("{}{}", ours.empty() ? "" : " ", std::bit_cast<std::uint32_t>(value));
  }
  EXPECT_EQ(ours, printed);
}

TEST(NormalizeTest, WhatDoesNotFitIsNamedWithItsShape) {
  const auto refusal = [](const char* json, DType dtype) {
    return error_of([&] { Prepared<Normalize> normalize(json, dtype, {3, 4, 4}); });
  };
  EXPECT_EQ(refusal(R"({"mean": [1, 2]})", DType::kUInt8).second,
            "transform under test: mean has 2 values, but the field 'input' is uint8 [3, 4, 4]; allowed: 1 or 3");
  const auto [code, message] = refusal("{}", DType::kInt64);
  EXPECT_EQ(code, Code::kShapeMismatch);
  EXPECT_THAT(message, HasSubstr("is int64 [3, 4, 4]; allowed: uint8 and float32"));
  EXPECT_THAT(refusal(R"({"std": [0]})", DType::kUInt8).second, HasSubstr("std: [0] is not allowed"));
}

}  // namespace
}  // namespace trainyard
