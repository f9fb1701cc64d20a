#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "datasets/image_folder/picture.h"

namespace trainyard {

/// Decodes JPEG files with libjpeg-turbo. Keeps its memory from one file to the next; one thread at a time.
///
/// Planes come as the file stores them, without upsampling of chroma or conversion of colours: both are far cheaper at
/// the size that is wanted. Where that is smaller than the file's by enough, the inverse cosine transform already
/// shrinks, which saves the work and the memory of pixels that would be averaged away.
class JpegDecoder {
 public:
  JpegDecoder();
  ~JpegDecoder();

  /// The picture, with no fewer rows and columns than `least` unless the file has fewer. `path` is for errors. Throws
  /// kCorrupt with the offset that reading had come to for anything that libjpeg finds wrong, also where it would go on
  /// and make something up: a file that is cut off, or broken in the middle.
  Picture decode(std::span<const std::byte> file, const std::string& path, std::size_t least,
                 const PictureLimits& limits);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trainyard
