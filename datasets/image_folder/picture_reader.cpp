// SPDX-License-Identifier: Apache-2.0
#include "datasets/image_folder/picture_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "datasets/image_folder/colors.h"
#include "messages/error.h"

namespace trainyard::image_folder {
namespace {

/// The size of the largest file that is read. No picture within the other limits needs a larger file.
constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 30;

constexpr std::array<std::uint8_t, 3> kJpegStart{0xff, 0xd8, 0xff};
constexpr std::array<std::uint8_t, 8> kPngStart{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

template <std::size_t N>
bool starts_with(std::span<const std::byte> file, const std::array<std::uint8_t, N>& start) {
  return file.size() >= N && std::memcmp(file.data(), start.data(), N) == 0;
}

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (number_ >= 0) return;
    throw Error(errno == ENOENT ? Code::kNotFound : Code::kIo, "cannot open {}: {}", path, std::strerror(errno));
  }
  ~Descriptor() { ::close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int operator*() const { return number_; }

 private:
  int number_;
};

}  // namespace

/// Reads the whole file into file_. For files that are read once and completely, this is faster than mapping them.
std::span<const std::byte> PictureReader::read_file(const std::string& path) {
  const Descriptor file(path);
  struct stat status {};
  if (::fstat(*file, &status) != 0 || !S_ISREG(status.st_mode)) {
    throw Error(Code::kIo, "{} is not a regular file", path);
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > kMostFileBytes) {
    throw Error(Code::kCorrupt, "{}: {} bytes are too many for a picture; allowed: at most {}", path, size,
                kMostFileBytes);
  }
  if (file_.size() < size) file_.resize(size);
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(*file, file_.data() + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(Code::kIo, "cannot read {} at offset {}: {}", path, done, std::strerror(errno));
    if (got == 0) break;  // The file has become shorter; the decoder will report this.
    done += static_cast<std::size_t>(got);
  }
  return std::span(file_).first(done);
}

Picture PictureReader::decode(std::span<const std::byte> file, const std::string& path) {
  if (starts_with(file, kJpegStart)) return jpeg_.decode(file, path, shape_.size, limits_);
  if (starts_with(file, kPngStart)) return png_.decode(file, path, limits_);
  std::string start;
  for (const std::byte byte : file.first(std::min<std::size_t>(file.size(), 8))) {
    start += fmt::format("{}{:02x}", start.empty() ? "" : " ", std::to_integer<int>(byte));
  }
  throw Error(Code::kCorrupt, "{} at offset 0: starts with {}; allowed: JPEG (ff d8 ff), PNG (89 50 4e 47 ...)", path,
              start.empty() ? "nothing" : start);
}

Box PictureReader::box_of(const Picture& picture) const {
  const auto width = static_cast<double>(picture.width);
  const auto height = static_cast<double>(picture.height);
  if (!shape_.crop) return {0, 0, width, height};
  const double edge = std::min(width, height);
  return {(width - edge) / 2, (height - edge) / 2, (width + edge) / 2, (height + edge) / 2};
}

void PictureReader::read(const std::string& path, std::span<std::uint8_t> target) {
  const Picture picture = decode(read_file(path), path);
  const std::size_t area = shape_.size * shape_.size;
  const Box box = box_of(picture);
  for (std::size_t i = 0; i < std::min<std::size_t>(picture.planes, 3); ++i) {
    resampler_.resample(picture.plane[i], box, shape_.size, target.data() + i * area);
  }
  if (picture.planes == 4) {
    black_.resize(area);
    resampler_.resample(picture.plane[3], box, shape_.size, black_.data());
  }
  convert_to_rgb(picture.model, target.data(), black_.data(), area);
}

}  // namespace trainyard::image_folder
