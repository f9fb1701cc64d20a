// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "datasets/image_folder/jpeg.h"
#include "datasets/image_folder/picture.h"
#include "datasets/image_folder/png_decoder.h"
#include "datasets/image_folder/resample.h"

namespace trainyard::image_folder {

/// The size to which every picture is scaled, and the way in which this is done.
struct PictureShape {
  std::size_t size = 224;  ///< The number of rows, which is also the number of columns.
  bool crop = false;       ///< True to take the largest square in the middle; otherwise the whole picture is stretched.
};

/// Reads picture files and converts them to one size and to red, green and blue planes. A reader reuses its memory, and
/// may be used by one thread at a time.
class PictureReader {
 public:
  PictureReader(PictureShape shape, PictureLimits limits) : shape_(shape), limits_(limits) {}

  /// Writes the 3 x size x size bytes of a picture. Whether the file is PNG or JPEG is recognised by its content, not
  /// by its name. Throws kNotFound, kIo and kCorrupt with the file and the offset.
  void read(const std::string& path, std::span<std::uint8_t> target);

 private:
  std::span<const std::byte> read_file(const std::string& path);
  Picture decode(std::span<const std::byte> file, const std::string& path);
  Box box_of(const Picture& picture) const;

  PictureShape shape_;
  PictureLimits limits_;
  std::vector<std::byte> file_;
  JpegDecoder jpeg_;
  PngDecoder png_;
  Resampler resampler_;
  std::vector<std::uint8_t> black_;
};

}  // namespace trainyard::image_folder
