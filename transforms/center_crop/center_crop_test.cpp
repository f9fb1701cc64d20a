// SPDX-License-Identifier: Apache-2.0
#include "transforms/center_crop/center_crop.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing/python.h"
#include "datasets/testing/dataset_testing.h"
#include "transforms/testing/transform_testing.h"

namespace trainyard {
namespace {

using testing::counting;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::Prepared;

TEST(CenterCropTest, CutsTheMiddleOutOfEveryChannel) {
  const Prepared<CenterCrop> crop(R"({"size": 2})", DType::kFloat32, {2, 4, 3});
  EXPECT_THAT(crop.output().shape, ElementsAre(2, 2, 2));
  EXPECT_THAT(crop.apply<float>(counting<float>(24)), ElementsAre(3, 4, 6, 7, 15, 16, 18, 19));
}

/// Compares with torchvision's formula `int(round((height - size) / 2.0))`, where Python's round() rounds halves to the
/// even neighbour.
TEST(CenterCropTest, OddSurplusesAreHalvedAsPythonRounds) {
  if (!testing::python_has("sys")) GTEST_SKIP() << "needs /usr/bin/python3";
  std::string ours;
  for (int extent = 1; extent <= 20; ++extent) {
    const Prepared<CenterCrop> crop(R"({"size": 1})", DType::kUInt8, {extent, extent});
    const auto image = counting<std::uint8_t>(static_cast<std::size_t>(extent * extent));
    ours += fmt::format("{} ", crop.apply<std::uint8_t>(image)[0]);
  }
  const char* script = "for e in range(1, 21): print((e + 1) * int(round((e - 1) / 2.0)) % 256, end=' ')";
  EXPECT_EQ(ours, testing::python(script, ""));
}

TEST(CenterCropTest, AnImageThatIsTooSmallIsNamed) {
  EXPECT_THAT(error_of([] {
                Prepared<CenterCrop> crop(R"({"size": 9})", DType::kUInt8, {3, 8, 9});
              }).second,
              HasSubstr("size = 9, but the field 'input' is uint8 [3, 8, 9]; allowed: 1 to 8"));
}

}  // namespace
}  // namespace trainyard
