// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace trainyard::image_folder {

/// One plane of a decoded picture: the values of one colour component for all pixels.
struct Plane {
  const std::uint8_t* pixels = nullptr;
  std::size_t stride = 0;  ///< The distance from one row to the next, in bytes.
  std::size_t width = 0;
  std::size_t height = 0;
  /// The size of the plane divided by the size of the picture. Chroma planes are often stored at half the size; both
  /// factors are then 0.5.
  double scale_x = 1;
  double scale_y = 1;
};

/// The meaning of the planes of a picture. The planes of kCmyk and kYcck are inverted, as in files from Adobe's
/// programs: the value 255 means no ink.
enum class ColorModel { kGrey, kRgb, kYcbcr, kCmyk, kYcck };

/// A decoded picture, before it is converted to the requested size and colours. The pixels belong to the decoder, and
/// are valid until it decodes the next picture.
struct Picture {
  ColorModel model = ColorModel::kGrey;
  std::size_t planes = 0;  ///< The number of elements of `plane` that are used.
  std::array<Plane, 4> plane;
  std::size_t width = 0;  ///< The width and height in the file. The scales of the planes refer to them.
  std::size_t height = 0;
};

/// The limits for pictures. A decoder checks them before it allocates memory, because the header of a file can claim
/// any size.
struct PictureLimits {
  std::uint64_t max_pixels = std::uint64_t{1} << 26;  ///< The maximum number of pixels, width times height.
};

}  // namespace trainyard::image_folder
