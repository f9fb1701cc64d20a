// SPDX-License-Identifier: Apache-2.0
#include "datasets/image_folder/resample.h"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "core/random/random.h"

namespace trainyard::image_folder {
namespace {

using Pixels = std::vector<std::uint8_t>;

Plane plane_of(const Pixels& pixels, std::size_t width) { return {pixels.data(), width, width, pixels.size() / width}; }

Pixels noise(std::size_t count) {
  Pixels pixels(count);
  for (std::size_t i = 0; i < count; ++i) pixels[i] = static_cast<std::uint8_t>(random_bits(i, 3));
  return pixels;
}

Pixels resampled(const Plane& plane, const Box& box, std::size_t size) {
  Pixels out(size * size);
  Resampler().resample(plane, box, size, out.data());
  return out;
}

Box whole(const Plane& plane) { return {0, 0, static_cast<double>(plane.width), static_cast<double>(plane.height)}; }

/// Computes a pixel by the definition, in double precision: every new pixel is the average under a triangle, in both
/// directions.
double expected(const Plane& plane, const Box& box, std::size_t size, std::size_t row, std::size_t column) {
  const auto weight = [size](double from, double to, std::size_t place, std::size_t old) {
    const double scale = (to - from) / static_cast<double>(size);
    const double center = from + (static_cast<double>(place) + 0.5) * scale;
    return std::max(0.0, 1 - std::abs(static_cast<double>(old) + 0.5 - center) / std::max(scale, 1.0));
  };
  double sum = 0;
  double weights = 0;
  for (std::size_t y = 0; y < plane.height; ++y) {
    for (std::size_t x = 0; x < plane.width; ++x) {
      const double both = weight(box.top, box.bottom, row, y) * weight(box.left, box.right, column, x);
      sum += both * plane.pixels[y * plane.stride + x];
      weights += both;
    }
  }
  return sum / weights;
}

TEST(ResampleTest, EveryPixelIsTheAverageUnderItsTriangle) {
  for (const auto& [width, height, size] : {std::tuple(31u, 19u, 7u), {31u, 19u, 12u}, {5u, 9u, 20u}, {90u, 3u, 4u}}) {
    const Pixels pixels = noise(width * height);
    const Plane plane = plane_of(pixels, width);
    for (const Box& box : {whole(plane), Box{width * 0.3, height * 0.1, width * 0.8, height * 0.95}}) {
      const Pixels ours = resampled(plane, box, size);
      for (std::size_t i = 0; i < ours.size(); ++i) {
        ASSERT_NEAR(ours[i], expected(plane, box, size, i / size, i % size), 1.1) << width << "x" << height << " " << i;
      }
    }
  }
}

TEST(ResampleTest, TheSameSizeLeavesThePixelsAndOneColourStaysWhateverTheSize) {
  const Pixels pixels = noise(24 * 24);
  EXPECT_EQ(resampled(plane_of(pixels, 24), {0, 0, 24, 24}, 24), pixels);
  for (const std::uint8_t value : {0, 1, 127, 255}) {
    const Pixels even(37 * 11, value);
    for (const std::size_t size : {1, 5, 50}) {
      EXPECT_EQ(resampled(plane_of(even, 37), {0, 0, 37, 11}, size), Pixels(size * size, value));
    }
  }
}

TEST(ResampleTest, APlaneOfHalfTheSizeIsPlacedAsThePictureIs) {
  const Pixels pixels = noise(16 * 8);
  Plane half = plane_of(pixels, 16);
  half.scale_x = 0.5;  // The plane belongs to a picture of 32 x 8.
  EXPECT_EQ(resampled(half, {8, 0, 24, 8}, 6), resampled(plane_of(pixels, 16), {4, 0, 12, 8}, 6));
}

}  // namespace
}  // namespace trainyard::image_folder
