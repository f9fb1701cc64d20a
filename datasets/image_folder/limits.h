// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "datasets/image_folder/picture.h"
#include "messages/error.h"

namespace trainyard::image_folder {

/// Checks the size of a picture that a file's header claims, before memory is allocated for it. The size must be within
/// `limits`, and a file of `file_bytes` bytes must be able to hold it if each byte encodes at most `most_pixels`
/// pixels. Otherwise throws kCorrupt, with the file, the offset of the claim, and the limit.
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
