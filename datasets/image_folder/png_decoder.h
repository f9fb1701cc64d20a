// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "datasets/image_folder/picture.h"

namespace trainyard::image_folder {

/// A decoder for PNG files of any kind, based on libpng. It converts palettes to colours and 16-bit values to 8 bits,
/// and ignores transparency. It reuses its memory from one file to the next, and can be used by only one thread at a
/// time.
class PngDecoder {
 public:
  /// Decodes `file`, the content of a PNG file. The result has the full size of the picture, and is grey or RGB. The
  /// pixels are valid until the next call. `path` names the file in error messages. Throws kCorrupt if the header
  /// claims a size that exceeds `limits`. Also throws kCorrupt, with the offset up to which the file had been read, for
  /// every error that libpng finds.
  Picture decode(std::span<const std::byte> file, const std::string& path, const PictureLimits& limits);

 private:
  struct Reading;
  Picture picture(const Reading& reading);

  std::vector<std::uint8_t> pixels_;  ///< The pixels as libpng writes them: the colours of each pixel are adjacent.
  std::vector<std::uint8_t> planes_;  ///< The same pixels, one plane for each colour.
  std::vector<unsigned char*> row_starts_;  ///< Pointers to the rows in pixels_.
};

}  // namespace trainyard::image_folder
