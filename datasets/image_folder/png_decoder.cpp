// SPDX-License-Identifier: Apache-2.0
#include "datasets/image_folder/png_decoder.h"

#include <png.h>

#include <array>
#include <csetjmp>
#include <cstring>

#include "datasets/image_folder/limits.h"
#include "messages/error.h"

namespace trainyard::image_folder {
namespace {

constexpr std::uint64_t kHeaderEnd = 8 + 8 + 13 + 4;  ///< Signature, then the chunk with the size.

/// The largest number of pixels that one byte of a PNG file can encode: deflate expands one byte to at most 1032 bytes,
/// and a pixel may be one bit.
constexpr std::uint64_t kMostPngPixelsPerByte = std::uint64_t{1032} * 8;

}  // namespace

/// The state of libpng while it decodes one file. If the library finds an error, it jumps out of its code to `jump`
/// with longjmp, so no stack frame in between may contain an object with a destructor.
struct PngDecoder::Reading {
  explicit Reading(std::span<const std::byte> file) : file(file) {}
  ~Reading() { png_destroy_read_struct(&png, &info, nullptr); }
  Reading(const Reading&) = delete;

  std::span<const std::byte> file;
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::size_t position = 0;
  std::size_t width = 0;
  std::size_t height = 0;
  std::size_t channels = 0;
  std::jmp_buf jump{};
  std::array<char, 200> message{};

  [[noreturn]] static void on_error(png_structp png, png_const_charp words) {
    auto& reading = *static_cast<Reading*>(png_get_error_ptr(png));
    std::strncpy(reading.message.data(), words, reading.message.size() - 1);
    std::longjmp(reading.jump, 1);
  }
  static void on_warning(png_structp, png_const_charp) {
  }  // Warnings are ignored: they concern only chunks that do not affect the pixels.
  static void on_read(png_structp png, png_bytep target, std::size_t size) {
    auto& reading = *static_cast<Reading*>(png_get_io_ptr(png));
    if (size > reading.file.size() - reading.position) png_error(png, "the file ends too early");
    std::memcpy(target, reading.file.data() + reading.position, size);
    reading.position += size;
  }

  /// Runs `work`, which calls the library. Returns false if the library has reported an error and `work` was therefore
  /// abandoned.
  template <class Work>
  bool guarded(Work work) {
    if (setjmp(jump) != 0) return false;
    work();
    return true;
  }

  bool read_header() {
    return guarded([this] {
      png = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, &Reading::on_error, &Reading::on_warning);
      if (png != nullptr) info = png_create_info_struct(png);
      if (info == nullptr) return;
      png_set_read_fn(png, this, &Reading::on_read);
      png_set_chunk_cache_max(
          png, 1);  // Text chunks are not needed, and a small compressed chunk could expand to gigabytes.
      png_read_info(png, info);
      width = png_get_image_width(png, info);
      height = png_get_image_height(png, info);
    });
  }

  /// Requests 8 bits of grey or RGB, whatever the file contains.
  bool start() {
    return guarded([this] {
      png_set_expand(png);
      png_set_scale_16(png);
      png_set_strip_alpha(png);
      png_set_interlace_handling(png);
      png_read_update_info(png, info);
      channels = png_get_channels(png, info);
    });
  }

  bool read_rows(png_bytepp rows) {
    return guarded([this, rows] {
      png_read_image(png, rows);
      png_read_end(png, nullptr);  // This also detects a file that is truncated after the pixels.
    });
  }
};

Picture PngDecoder::picture(const Reading& reading) {
  const std::size_t area = reading.width * reading.height;
  Picture picture{ColorModel::kGrey, reading.channels, {}, reading.width, reading.height};
  const std::uint8_t* source = pixels_.data();
  if (reading.channels == 3) {
    picture.model = ColorModel::kRgb;
    planes_.resize(area * 3);
    std::uint8_t* red = planes_.data();
    for (std::size_t i = 0; i < area; ++i) {
      for (std::size_t color = 0; color < 3; ++color) red[color * area + i] = source[i * 3 + color];
    }
    source = red;
  }
  for (std::size_t i = 0; i < reading.channels; ++i) {
    picture.plane[i] = {source + i * area, reading.width, reading.width, reading.height};
  }
  return picture;
}

Picture PngDecoder::decode(std::span<const std::byte> file, const std::string& path, const PictureLimits& limits) {
  Reading reading(file);
  const auto check = [&](bool done) {
    if (!done) throw Error(Code::kCorrupt, "{} at offset {}: {}", path, reading.position, reading.message.data());
  };
  check(reading.read_header());
  if (reading.info == nullptr) throw Error(Code::kInternal, "libpng {} cannot be used", PNG_LIBPNG_VER_STRING);
  check_claim(path, kHeaderEnd, reading.width, reading.height, limits, file.size(), kMostPngPixelsPerByte);
  check(reading.start());
  pixels_.resize(reading.width * reading.height * reading.channels);
  row_starts_.resize(reading.height);
  for (std::size_t row = 0; row < reading.height; ++row) {
    row_starts_[row] = pixels_.data() + row * reading.width * reading.channels;
  }
  check(reading.read_rows(row_starts_.data()));
  return picture(reading);
}

}  // namespace trainyard::image_folder
