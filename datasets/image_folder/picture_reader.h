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

/// The size to which every picture is scaled, and the part of the picture that is used.
struct PictureShape {
  std::size_t size = 224;  ///< The number of rows and of columns.
  bool crop = false;       ///< True to use the largest square in the middle; false to stretch the whole picture.
};

/// A reader of picture files that converts every picture to the same size and to red, green and blue planes. It reuses
/// its memory from one picture to the next, and can be used by only one thread at a time.
class PictureReader {
 public:
  PictureReader(PictureShape shape, PictureLimits limits) : shape_(shape), limits_(limits) {}

  /// Reads the file `path` and writes the 3 x size x size bytes of the converted picture to `target`. The content of
  /// the file, not its name, determines whether it is decoded as PNG or as JPEG. Throws kNotFound, kIo or kCorrupt,
  /// with the file and the offset, and kUnsupported for colours that no ColorModel describes.
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
