// SPDX-License-Identifier: Apache-2.0
#include "images/png.h"

#include <png.h>

#include "messages/error.h"

namespace trainyard::images {
namespace {

void check(const Pixels& pixels) {
  const std::uint64_t needed = std::uint64_t{pixels.width} * pixels.height * pixels.channels;
  if (needed != 0 && (pixels.channels == 1 || pixels.channels == 3) && pixels.bytes.size() == needed) return;
  throw Error(Code::kInvalidArgument,
              "{} bytes are no picture of {} x {} pixels with {} channels; 1 or 3 channels and one byte for each are "
              "allowed",
              pixels.bytes.size(), pixels.width, pixels.height, pixels.channels);
}

}  // namespace

std::string png_of(const Pixels& pixels) {
  check(pixels);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = pixels.width;
  image.height = pixels.height;
  image.format = pixels.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  // The first call only determines the size. libpng thus compresses the picture twice, which is fast enough for small
  // pictures.
  png_alloc_size_t size = 0;
  std::string file;
  for (const bool measure : {true, false}) {
    if (!measure) file.resize(size);
    if (png_image_write_to_memory(&image, measure ? nullptr : file.data(), &size, 0, pixels.bytes.data(), 0, nullptr) ==
        0) {
      throw Error(Code::kInternal, "a picture cannot be written as PNG: {}", image.message);
    }
  }
  return file;
}

}  // namespace trainyard::images
