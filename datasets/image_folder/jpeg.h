// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "datasets/image_folder/picture.h"

namespace trainyard::image_folder {

/// A decoder for JPEG files that uses libjpeg-turbo. It keeps its memory from one file to the next, and can be used by
/// one thread at a time.
///
/// The decoder returns the planes as they are stored in the file. It neither enlarges chroma planes nor converts
/// colours, because both are far cheaper after the picture has been scaled to the requested size. If the requested size
/// is much smaller than the stored one, the inverse cosine transform already shrinks the picture. This saves the time
/// and memory for pixels that would be averaged away.
class JpegDecoder {
 public:
  JpegDecoder();
  ~JpegDecoder();

  /// Decodes the JPEG file in `file`. The result has at least `least` rows and columns, unless the file has fewer.
  /// `path` is the name of the file in errors. Throws kCorrupt for every error that libjpeg finds, with the offset up
  /// to which the file had been read. This includes files that are truncated or damaged in the middle, for which
  /// libjpeg alone would invent the missing pixels.
  Picture decode(std::span<const std::byte> file, const std::string& path, std::size_t least,
                 const PictureLimits& limits);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trainyard::image_folder
