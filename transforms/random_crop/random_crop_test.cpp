// SPDX-License-Identifier: Apache-2.0
#include "transforms/random_crop/random_crop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "datasets/testing/dataset_testing.h"
#include "transforms/testing/transform_testing.h"

namespace trainyard {
namespace {

using testing::counting;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::Prepared;
using Bytes = std::vector<std::uint8_t>;

TEST(RandomCropTest, InEvaluationTheMiddleIsCutOutOfEveryChannel) {
  const Prepared<RandomCrop> crop(R"({"size": 2})", DType::kUInt8, {2, 4, 4});
  EXPECT_THAT(crop.output().shape, ElementsAre(2, 2, 2));
  EXPECT_THAT(crop.apply<std::uint8_t>(counting<std::uint8_t>(32)), ElementsAre(5, 6, 9, 10, 21, 22, 25, 26));
}

TEST(RandomCropTest, WithPaddingEvaluationLeavesAnImageOfTheSameSizeAsItIs) {
  const Prepared<RandomCrop> crop(R"({"size": 3, "padding": 2})", DType::kInt16, {3, 3});
  EXPECT_EQ(crop.apply<std::int16_t>(counting<std::int16_t>(9)), counting<std::int16_t>(9));
}

/// Returns the result that a crop should have, element by element, as looked up in the padded image.
Bytes window(const Bytes& image, int height, int width, int size, int top, int left) {
  Bytes values;
  for (int row = top; row < top + size; ++row) {
    for (int column = left; column < left + size; ++column) {
      const bool inside = row >= 0 && row < height && column >= 0 && column < width;
      values.push_back(inside ? image[static_cast<std::size_t>(row * width + column)] : 0);
    }
  }
  return values;
}

/// An image of 5 x 7 with a padding of 2 has 6 x 8 possible positions. The statistic has a chi-square distribution with
/// 47 degrees of freedom, and exceeds 82.7 with a probability of 0.1 %.
TEST(RandomCropTest, EveryPlaceIsAsLikelyAsAnyOther) {
  const Prepared<RandomCrop> crop(R"({"size": 4, "padding": 2})", DType::kUInt8, {1, 5, 7});
  Bytes image = counting<std::uint8_t>(35);
  for (std::uint8_t& value : image) ++value;  // Zero is used only for the padding.
  std::map<Bytes, int> counts;
  constexpr int kDraws = 9600;
  for (std::uint64_t key = 0; key < kDraws; ++key) ++counts[crop.apply<std::uint8_t>(image, random_bits(key, 1))];
  double chi_square = 0;
  for (int top = -2; top <= 3; ++top) {
    for (int left = -2; left <= 5; ++left) {
      const double difference = counts[window(image, 5, 7, 4, top, left)] - kDraws / 48.0;
      chi_square += difference * difference / (kDraws / 48.0);
    }
  }
  EXPECT_EQ(counts.size(), 48u);  // No other result occurs.
  EXPECT_LT(chi_square, 82.7);
}

TEST(RandomCropTest, TheSameKeyGivesTheSameCrop) {
  const Prepared<RandomCrop> crop(R"({"size": 4, "padding": 3})", DType::kUInt8, {3, 8, 8});
  const Bytes image = counting<std::uint8_t>(192);
  EXPECT_EQ(crop.apply<std::uint8_t>(image, 5), crop.apply<std::uint8_t>(image, 5));
}

TEST(RandomCropTest, AnImageThatIsTooSmallIsNamed) {
  EXPECT_EQ(
      error_of([] {
        Prepared<RandomCrop> crop(R"({"size": 9, "padding": 1})", DType::kUInt8, {3, 8, 6});
      }).second,
      "transform under test: size = 9 with padding = 1, but the field 'input' is uint8 [3, 8, 6]; allowed: 1 to 8");
  const auto [code, message] = error_of([] { Prepared<RandomCrop> crop(R"({"size": 2})", DType::kUInt8, {8}); });
  EXPECT_EQ(code, Code::kShapeMismatch);
  EXPECT_THAT(message, HasSubstr("is uint8 [8]; allowed: images, [channels, height, width] or [height, width]"));
}

}  // namespace
}  // namespace trainyard
