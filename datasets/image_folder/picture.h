#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace trainyard {

/// One colour of a decoded picture.
struct Plane {
  const std::uint8_t* pixels = nullptr;
  std::size_t stride = 0;  ///< Bytes from row to row.
  std::size_t width = 0;
  std::size_t height = 0;
  double scale_x = 1;  ///< Columns of the plane for one column of the picture: chroma is often stored at half size.
  double scale_y = 1;
};

/// What the planes of a picture are. In kCmyk and kYcck, 255 is no ink: so Adobe's programs write it.
enum class ColorModel { kGrey, kRgb, kYcbcr, kCmyk, kYcck };

/// A decoded picture, not yet of the size or the colours that are wanted. Lives in its decoder until the next one.
struct Picture {
  ColorModel model = ColorModel::kGrey;
  std::size_t planes = 0;
  std::array<Plane, 4> plane;
  std::size_t width = 0;  ///< Of the picture as stored, to which the planes' scales refer.
  std::size_t height = 0;
};

/// What a decoder may take on. A header can claim anything; memory is not taken on its word.
struct PictureLimits {
  std::uint64_t max_pixels = std::uint64_t{1} << 26;
};

}  // namespace trainyard
