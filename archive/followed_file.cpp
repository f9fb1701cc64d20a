// SPDX-License-Identifier: Apache-2.0
#include "archive/followed_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/files/regular_file.h"
#include "messages/error.h"

namespace trainyard::archive {

namespace {

constexpr std::size_t kChunkBytes = 1 << 20;

}  // namespace

FollowedFile::~FollowedFile() {
  if (file_ >= 0) ::close(file_);
}

bool FollowedFile::look() {
  const struct stat now = core::require_regular_file(path_);
  const auto size = static_cast<std::uint64_t>(now.st_size);
  const bool same = file_ >= 0 && now.st_dev == device_ && now.st_ino == inode_ && size >= size_;
  size_ = size;
  if (same) return false;
  if (file_ >= 0) ::close(file_);
  // With O_NONBLOCK, open() does not block, even if the file was just replaced by a FIFO.
  file_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file_ < 0) throw Error(Code::kIo, "{}: cannot be read: {}", path_, std::strerror(errno));
  device_ = now.st_dev;
  inode_ = now.st_ino;
  offset_ = 0;
  begin_ = 0;
  buffer_.clear();
  in_skipped_line_ = false;
  skipped_lines_ = 0;
  return true;
}

void FollowedFile::read_lines(const OnLine& on_line) {
  while (hand_out(on_line) && fill()) {
  }
}

bool FollowedFile::fill() {
  buffer_.erase(0, begin_);
  begin_ = 0;
  if (buffer_.size() > max_line_bytes_) {
    buffer_.clear();
    if (!in_skipped_line_) ++skipped_lines_;
    in_skipped_line_ = true;
  }
  const std::size_t kept = buffer_.size();
  buffer_.resize(kept + kChunkBytes);
  const ssize_t count = ::pread(file_, buffer_.data() + kept, kChunkBytes, static_cast<off_t>(offset_));
  const int reason = errno;
  buffer_.resize(kept + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  if (count < 0) throw Error(Code::kIo, "{}: cannot be read: {}", path_, std::strerror(reason));
  offset_ += static_cast<std::uint64_t>(count);
  return count > 0;
}

bool FollowedFile::hand_out(const OnLine& on_line) {
  for (;;) {
    const char* start = buffer_.data() + begin_;
    const auto* end = static_cast<const char*>(std::memchr(start, '\n', buffer_.size() - begin_));
    if (end == nullptr) return true;
    begin_ += static_cast<std::size_t>(end - start) + 1;
    if (std::exchange(in_skipped_line_, false)) continue;
    if (end != start && end[-1] == '\r') --end;
    if (!on_line({start, static_cast<std::size_t>(end - start)})) return false;
  }
}

void FollowedFile::skip_to_tail(std::uint64_t bytes) {
  const std::uint64_t read = offset_ - (buffer_.size() - begin_);
  if (size_ < bytes || size_ - bytes <= read) return;
  // Reading starts one byte earlier, at a line end if a line begins exactly there, so that this line is not skipped.
  offset_ = size_ - bytes - 1;
  buffer_.clear();
  begin_ = 0;
  in_skipped_line_ = true;
}

}  // namespace trainyard::archive
