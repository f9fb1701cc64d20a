// SPDX-License-Identifier: Apache-2.0
#include "transforms/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing/error_of.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

DatasetField bytes(std::vector<std::int64_t> shape) {
  return {"input", static_cast<std::uint8_t>(DType::kUInt8), std::move(shape)};
}

/// Returns the window of `size` x `size` at (top, left) of a picture of 2 x 3 pixels: 1 2 3 above 4 5 6.
std::vector<int> window(std::size_t size, std::ptrdiff_t top, std::ptrdiff_t left) {
  const std::vector<std::uint8_t> image{1, 2, 3, 4, 5, 6};
  std::vector<std::uint8_t> result(size * size, 99);
  copy_window(image_shape(bytes({2, 3}), "the test"), std::as_bytes(std::span(image)),
              std::as_writable_bytes(std::span(result)), size, top, left);
  return {result.begin(), result.end()};
}

TEST(ImageTest, TheLastTwoDimensionsAreRowsAndColumns) {
  const ImageShape image = image_shape({"input", static_cast<std::uint8_t>(DType::kFloat32), {3, 5, 7}}, "the test");
  EXPECT_EQ(image.planes, 3u);
  EXPECT_EQ(image.height, 5u);
  EXPECT_EQ(image.row_bytes(), 28u);
  EXPECT_EQ(image.plane_bytes(), 140u);
  EXPECT_EQ(image_shape(bytes({5, 7}), "the test").planes, 1u);
}

TEST(ImageTest, AFieldThatIsNoImageIsRefusedWithItsShape) {
  const auto [code, text] = testing::error_of([] { image_shape(bytes({4}), "transform 't'"); });
  EXPECT_EQ(code, Code::kShapeMismatch);
  EXPECT_EQ(text,
            "transform 't': the field 'input' is uint8 [4]; allowed: images, [channels, height, width] or "
            "[height, width]");
}

TEST(ImageTest, ResizingKeepsTheChannels) {
  EXPECT_THAT(resized(bytes({3, 8, 9}), 4, 5).shape, ElementsAre(3, 4, 5));
  EXPECT_THAT(resized(bytes({8, 9}), 4, 5).shape, ElementsAre(4, 5));
}

TEST(ImageTest, AWindowThatReachesOverAnEdgeIsFilledWithZeros) {
  EXPECT_THAT(window(2, 0, 0), ElementsAre(1, 2, 4, 5));
  EXPECT_THAT(window(2, 0, 1), ElementsAre(2, 3, 5, 6));
  EXPECT_THAT(window(2, -1, -1), ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(window(2, 1, 2), ElementsAre(6, 0, 0, 0));
  EXPECT_THAT(window(3, 0, -1), ElementsAre(0, 1, 2, 0, 4, 5, 0, 0, 0));
  EXPECT_THAT(window(2, 7, 7), ElementsAre(0, 0, 0, 0)) << "wholly outside";
}

}  // namespace
}  // namespace trainyard
