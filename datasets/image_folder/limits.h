// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "datasets/image_folder/picture.h"
#include "messages/error.h"

namespace trainyard::image_folder {

/// Checks the picture size that the header of a file claims, before memory is allocated for the picture. Throws
/// kCorrupt, with the file, the offset of the size in the file, and the limit, if the size exceeds `limits`, or if a
/// file of `file_bytes` bytes cannot hold that many pixels. `most_pixels` is the maximum number of pixels that one byte
/// of the format can encode.
inline void check_claim(const std::string& path, std::uint64_t offset, std::uint64_t width, std::uint64_t height,
                        const PictureLimits& limits, std::uint64_t file_bytes, std::uint64_t most_pixels) {
  if (width == 0 || height == 0 || width > limits.max_pixels / height) {
    throw Error(Code::kCorrupt,
                "{} at offset {}: the header claims {} x {} pixels; allowed: 1 to {} in all (max_pixels)", path, offset,
                width, height, limits.max_pixels);
  }
  if (width * height / most_pixels > file_bytes) {
    throw Error(Code::kCorrupt, "{} at offset {}: the header claims {} x {} pixels, more than {} bytes can hold", path,
                offset, width, height, file_bytes);
  }
}

}  // namespace trainyard::image_folder
