// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace trainyard::image_folder {

/// The pixels of one colour of a decoded picture.
struct Plane {
  const std::uint8_t* pixels = nullptr;
  std::size_t stride = 0;  ///< The bytes from one row to the next.
  std::size_t width = 0;
  std::size_t height = 0;
  /// The columns of the plane for each column of the picture: chroma is often stored at half size.
  double scale_x = 1;
  double scale_y = 1;
};

/// The meaning of the planes of a picture. In kCmyk and kYcck 255 means no ink, as in the files of Adobe's programs.
enum class ColorModel { kGrey, kRgb, kYcbcr, kCmyk, kYcck };

/// A decoded picture, before it is converted to the requested size and colours. Its pixels belong to the decoder, and
/// are valid until the decoder decodes the next picture.
struct Picture {
  ColorModel model = ColorModel::kGrey;
  std::size_t planes = 0;
  std::array<Plane, 4> plane;
  std::size_t width = 0;  ///< The stored width, to which the scales of the planes refer.
  std::size_t height = 0;
};

/// The maximum size of a picture that a decoder accepts. A header can claim any size, so the size is checked before
/// memory is allocated.
struct PictureLimits {
  std::uint64_t max_pixels = std::uint64_t{1} << 26;
};

}  // namespace trainyard::image_folder
