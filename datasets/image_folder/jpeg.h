// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "datasets/image_folder/picture.h"

namespace trainyard::image_folder {

/// A decoder for JPEG files, based on libjpeg-turbo. It reuses its memory from one file to the next, and can be used by
/// only one thread at a time.
///
/// The decoder returns the colour planes as they are stored in the file. It neither enlarges chroma planes nor converts
/// colours, because both are far cheaper after the picture has been scaled to the requested size. If the requested size
/// is much smaller than the stored size, the decoder makes the inverse cosine transform produce a smaller picture. This
/// saves the time and memory for pixels that would only be averaged away later.
class JpegDecoder {
 public:
  JpegDecoder();
  ~JpegDecoder();

  /// Decodes `file`, the content of a JPEG file. The result has at least `least` rows and columns, unless the picture
  /// in the file has fewer. The pixels are valid until the next call. `path` names the file in error messages. Throws
  /// kUnsupported if no ColorModel describes the colours, and kCorrupt if the header claims a size that exceeds
  /// `limits`. Also throws kCorrupt, with the offset up to which the file had been read, for every error that libjpeg
  /// finds. This includes files that are truncated or damaged in the middle, for which libjpeg by default would only
  /// warn and make up the missing pixels.
  Picture decode(std::span<const std::byte> file, const std::string& path, std::size_t least,
                 const PictureLimits& limits);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trainyard::image_folder
