#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "datasets/image_folder/picture.h"

namespace trainyard {

/// Decodes PNG files with libpng, of any kind: palettes become colours, 16 bits become 8, transparency is left out.
/// Keeps its memory from one file to the next; one thread at a time.
class PngDecoder {
 public:
  /// The picture, grey or RGB, at its full size. `path` is for errors. Throws kCorrupt with the offset that reading had
  /// come to for anything that libpng finds wrong.
  Picture decode(std::span<const std::byte> file, const std::string& path, const PictureLimits& limits);

 private:
  struct Reading;
  Picture picture(const Reading& reading);

  std::vector<std::uint8_t> pixels_;        ///< As libpng gives them, colours side by side.
  std::vector<std::uint8_t> planes_;        ///< Colours apart.
  std::vector<unsigned char*> row_starts_;  ///< In pixels_.
};

}  // namespace trainyard
