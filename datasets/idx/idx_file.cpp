// SPDX-License-Identifier: Apache-2.0
#include "datasets/idx/idx_file.h"

#include <fmt/ranges.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>

#include "messages/error.h"

namespace trainyard::idx {
namespace {

/// Reads a file, decompressing it if it is gzipped, and keeps track of the position for error messages.
class Source {
 public:
  explicit Source(const std::string& path) : path_(path) {
    // gzopen() would open a folder and fail only when reading.
    std::error_code failure;
    if (!std::filesystem::is_regular_file(path, failure)) throw Error(Code::kNotFound, "there is no file {}", path);
    file_bytes_ = std::filesystem::file_size(path, failure);
    file_.reset(gzopen(path.c_str(), "rb"));
    if (!file_) throw Error(Code::kIo, "cannot open {}: {}", path, std::strerror(errno));
  }

  /// Fills `target`. Throws kCorrupt if the file ends before `target` is full.
  void read(std::span<std::uint8_t> target, const char* what) {
    for (std::size_t done = 0; done < target.size();) {
      // gzread may return fewer bytes than requested before the end of the file.
      const std::size_t got = read_some(target.subspan(done));
      if (got == 0) fail(fmt::format("the file ends in the {}, {} of {} bytes are there", what, done, target.size()));
      done += got;
    }
  }

  /// Throws kCorrupt if the file contains more bytes. zlib compares the checksum of a compressed file only when it
  /// reads past the last byte, so without this call a damaged end would not be noticed.
  void expect_end() {
    std::uint8_t more = 0;
    if (read_some({&more, 1}) != 0) fail("there are more bytes than the header says");
  }

  /// Returns the largest size that the uncompressed data can have. Deflate expands one byte to at most 1032 bytes.
  std::uint64_t most_bytes() const { return gzdirect(file_.get()) != 0 ? file_bytes_ : file_bytes_ * 1032; }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(Code::kCorrupt, "{} at offset {}: {}", path_, position_, what);
  }

 private:
  struct Close {
    void operator()(gzFile file) const { gzclose(file); }
  };

  std::size_t read_some(std::span<std::uint8_t> target) {
    constexpr std::size_t kMost = 1 << 30;  // gzread returns an int.
    const int got = gzread(file_.get(), target.data(), static_cast<unsigned>(std::min(target.size(), kMost)));
    // gzread returns the available bytes even if an error follows, so the error is queried separately.
    int code = Z_OK;
    const char* words = gzerror(file_.get(), &code);
    if (code == Z_ERRNO) throw Error(Code::kIo, "cannot read {} at offset {}: {}", path_, position_, words);
    if (got < 0 || (got == 0 && code != Z_OK)) fail(fmt::format("the gzip data is broken: {}", words));
    position_ += static_cast<std::uint64_t>(got);
    return static_cast<std::size_t>(got);
  }

  std::string path_;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t position_ = 0;  ///< The position in the uncompressed data.
  std::unique_ptr<gzFile_s, Close> file_;
};

/// Reads the magic word (two zero bytes, the element type and the number of dimensions), checks it, and returns the
/// number of dimensions.
std::size_t read_magic(Source& source, const std::string& path, std::size_t least_dimensions) {
  constexpr std::uint8_t kUnsignedByte = 0x08;
  constexpr std::size_t kMostDimensions = 8;
  std::array<std::uint8_t, 4> magic{};
  source.read(magic, "magic word");
  const auto [zero, also_zero, type, dimensions] = magic;
  // IDX has the types 0x08 to 0x0e, of which we read the first; anything else is not an IDX file.
  if (zero != 0 || also_zero != 0 || type < kUnsignedByte || type > 0x0e) {
    source.fail(fmt::format("magic word {:02x} is not IDX; allowed: 00 00 08 and the number of dimensions",
                            fmt::join(magic, " ")));
  }
  if (type != kUnsignedByte) {
    throw Error(Code::kUnsupported, "{}: element type 0x{:02x}; allowed: 0x08 (unsigned byte)", path, type);
  }
  if (dimensions < least_dimensions || dimensions > kMostDimensions) {
    source.fail(fmt::format("{} dimensions; allowed: {} to {}", int{dimensions}, least_dimensions, kMostDimensions));
  }
  return dimensions;
}

/// Returns the number of bytes for this shape. Throws kCorrupt if the file cannot contain so many, before memory is
/// allocated for them.
std::uint64_t checked_size(const Source& source, const std::vector<std::int64_t>& shape) {
  std::uint64_t size = 1;
  for (const std::int64_t extent : shape) {
    if (extent == 0) source.fail(fmt::format("the header says [{}], which is empty", fmt::join(shape, ", ")));
    if (__builtin_mul_overflow(size, static_cast<std::uint64_t>(extent), &size) || size > source.most_bytes()) {
      source.fail(fmt::format("the header says [{}], more than the file can hold", fmt::join(shape, ", ")));
    }
  }
  return size;
}

}  // namespace

File read_file(const std::string& path, std::size_t least_dimensions) {
  Source source(path);
  File file{path, {}, {}};
  for (std::size_t left = read_magic(source, path, least_dimensions); left > 0; --left) {
    std::array<std::uint8_t, 4> extent{};  // Big-endian.
    source.read(extent, "header");
    file.shape.push_back(std::int64_t{extent[0]} << 24 | extent[1] << 16 | extent[2] << 8 | extent[3]);
  }
  file.bytes.resize(checked_size(source, file.shape));
  source.read(file.bytes, "data");
  source.expect_end();
  return file;
}

}  // namespace trainyard::idx
