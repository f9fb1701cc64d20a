// SPDX-License-Identifier: Apache-2.0
#include "datasets/image_folder/colors.h"

#include <algorithm>
#include <cstring>

namespace trainyard::image_folder {
namespace {

/// The factors of JFIF (ITU-R BT.601, full range) as fractions of 2^16.
constexpr std::int32_t kRedOfCr = 91881;     // 1.40200
constexpr std::int32_t kGreenOfCb = -22554;  // -0.34414
constexpr std::int32_t kGreenOfCr = -46802;  // -0.71414
constexpr std::int32_t kBlueOfCb = 116130;   // 1.77200
constexpr std::int32_t kHalf = 1 << 15;

std::uint8_t clipped(std::int32_t value) { return static_cast<std::uint8_t>(std::clamp(value, 0, 255)); }

void from_ycbcr(std::uint8_t* planes, std::size_t pixels) {
  std::uint8_t* first = planes;
  std::uint8_t* second = planes + pixels;
  std::uint8_t* third = planes + 2 * pixels;
  for (std::size_t i = 0; i < pixels; ++i) {
    const std::int32_t luma = first[i];
    const std::int32_t cb = second[i] - 128;
    const std::int32_t cr = third[i] - 128;
    first[i] = clipped(luma + ((kRedOfCr * cr + kHalf) >> 16));
    second[i] = clipped(luma + ((kGreenOfCb * cb + kGreenOfCr * cr + kHalf) >> 16));
    third[i] = clipped(luma + ((kBlueOfCb * cb + kHalf) >> 16));
  }
}

/// Multiplies the colours by the black plane, in which 255 means no black ink.
void darken(std::uint8_t* planes, const std::uint8_t* black, std::size_t pixels) {
  for (std::size_t color = 0; color < 3; ++color, planes += pixels) {
    for (std::size_t i = 0; i < pixels; ++i) {
      planes[i] = static_cast<std::uint8_t>((planes[i] * black[i] + 127) / 255);
    }
  }
}

}  // namespace

void convert_to_rgb(ColorModel model, std::uint8_t* planes, const std::uint8_t* black, std::size_t pixels) {
  switch (model) {
    case ColorModel::kGrey:
      std::memcpy(planes + pixels, planes, pixels);
      std::memcpy(planes + 2 * pixels, planes, pixels);
      return;
    case ColorModel::kRgb:
      return;
    case ColorModel::kYcbcr:
      return from_ycbcr(planes, pixels);
    // The values describe how much light the inks leave, so they convert directly to RGB. libjpeg's own conversion
    // would invert them.
    case ColorModel::kYcck:
      from_ycbcr(planes, pixels);
      for (std::size_t i = 0; i < 3 * pixels; ++i) planes[i] = static_cast<std::uint8_t>(255 - planes[i]);
      return darken(planes, black, pixels);
    case ColorModel::kCmyk:
      return darken(planes, black, pixels);
  }
}

}  // namespace trainyard::image_folder
