// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "datasets/image_folder/picture.h"

namespace trainyard::image_folder {

/// Decodes JPEG files with libjpeg-turbo. A decoder keeps its memory from one file to the next and serves one thread at
/// a time.
///
/// The planes are those that the file stores. Chroma is not enlarged and colours are not converted here, because both
/// are far cheaper at the requested size. If that size is small enough, the inverse cosine transform already shrinks
/// the picture, which saves work and memory for pixels that would be averaged away.
class JpegDecoder {
 public:
  JpegDecoder();
  ~JpegDecoder();

  /// Returns the picture with at least `least` rows and columns, or with as many as the file has. Errors name the file
  /// by `path`. Throws kCorrupt, with the offset that reading had reached, for everything that libjpeg finds wrong.
  /// This includes files that are cut off or broken in the middle, for which libjpeg would make up the rest.
  Picture decode(std::span<const std::byte> file, const std::string& path, std::size_t least,
                 const PictureLimits& limits);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trainyard::image_folder
