// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "datasets/image_folder/picture.h"

namespace trainyard::image_folder {

/// Decodes PNG files of any kind with libpng. Palettes are converted to colours and 16-bit values to 8 bits;
/// transparency is ignored. A decoder keeps its memory from one file to the next and serves one thread at a time.
class PngDecoder {
 public:
  /// Returns the picture at its full size, grey or RGB. Errors name the file by `path`. Throws kCorrupt, with the
  /// offset that reading had reached, for everything that libpng finds wrong.
  Picture decode(std::span<const std::byte> file, const std::string& path, const PictureLimits& limits);

 private:
  struct Reading;
  Picture picture(const Reading& reading);

  std::vector<std::uint8_t> pixels_;        ///< The pixels as libpng writes them: all colours of a pixel side by side.
  std::vector<std::uint8_t> planes_;        ///< The same pixels, colour by colour.
  std::vector<unsigned char*> row_starts_;  ///< Where each row begins in pixels_.
};

}  // namespace trainyard::image_folder
