// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <png.h>

#include <string_view>

#include "images/base64.h"
#include "images/png.h"
#include "messages/error.h"

namespace trainyard::images {
namespace {

/// Returns the pixels of a PNG file, decoded by libpng.
std::vector<std::uint8_t> decoded(const std::string& file, const Pixels& like) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_memory(&image, file.data(), file.size()), 0);
  EXPECT_EQ(image.width, like.width);
  EXPECT_EQ(image.height, like.height);
  image.format = like.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  std::vector<std::uint8_t> bytes(PNG_IMAGE_SIZE(image));
  EXPECT_NE(png_image_finish_read(&image, nullptr, bytes.data(), 0, nullptr), 0);
  return bytes;
}

TEST(PngTest, AReaderFindsThePixels) {
  for (const std::uint32_t channels : {1u, 3u}) {
    Pixels pixels{.width = 5, .height = 7, .channels = channels, .bytes = {}};
    for (std::uint32_t i = 0; i < 35 * channels; ++i) pixels.bytes.push_back(static_cast<std::uint8_t>(i * 37));
    EXPECT_EQ(decoded(png_of(pixels), pixels), pixels.bytes);
  }
}

TEST(PngTest, WhatIsNoPictureIsRefused) {
  EXPECT_THROW(png_of({}), Error);
  EXPECT_THROW(png_of({.width = 2, .height = 2, .channels = 2, .bytes = std::vector<std::uint8_t>(8)}), Error);
  EXPECT_THROW(png_of({.width = 2, .height = 2, .channels = 1, .bytes = {1, 2, 3}}), Error);
}

TEST(Base64Test, TheExamplesOfTheSpecificationAreRight) {  // RFC 4648, section 10.
  const std::string_view bytes = "foobar";
  const char* texts[] = {"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    EXPECT_EQ(base64_of(bytes.substr(0, size)), texts[size]);
    EXPECT_EQ(bytes_of_base64(texts[size]), bytes.substr(0, size));
  }
  for (const char* wrong : {"Zg", "Zg=", "Zm9v\n", " Zm9v", "Zm9*", "\xc3\xa4\xc3\xa4"}) {
    EXPECT_FALSE(bytes_of_base64(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace trainyard::images
