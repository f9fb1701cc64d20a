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

namespace trainyard {

/// How every picture comes to the same size.
struct PictureShape {
  std::size_t size = 224;  ///< Rows and columns.
  bool crop = false;       ///< The largest square of its middle; else the whole picture, stretched.
};

/// Reads picture files, brings them to one size and to red, green and blue planes. Has all the memory that takes and
/// keeps it: one reader for every thread.
class PictureReader {
 public:
  PictureReader(PictureShape shape, PictureLimits limits) : shape_(shape), limits_(limits) {}

  /// Writes 3 x size x size bytes. The content decides between PNG and JPEG, not the name. Throws kNotFound, kIo and
  /// kCorrupt with file and offset.
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

}  // namespace trainyard
