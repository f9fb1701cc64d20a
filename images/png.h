// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::images {

/// A picture: one byte for each channel of each pixel, row by row. It has 1 channel (grey) or 3 (red, green, blue).
struct Pixels {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t channels = 1;
  std::vector<std::uint8_t> bytes;
};

/// Returns the bytes of a PNG file with this picture. Throws kInvalidArgument for a picture without pixels, with a
/// number of channels other than 1 or 3, or with a wrong number of bytes.
std::string png_of(const Pixels& pixels);

}  // namespace trainyard::images
