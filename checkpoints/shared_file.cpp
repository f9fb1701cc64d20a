// SPDX-License-Identifier: Apache-2.0
#include "checkpoints/shared_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "checkpoints/durable_file.h"

namespace trainyard::checkpoints {
namespace {

/// With this size, waiting for the disk after each write costs little.
constexpr std::size_t kStage = std::size_t{8} << 20;

}  // namespace

void create_shared_file(const std::string& path, std::string_view head, std::uint64_t bytes) {
  DurableFile file(path);
  file.write(head);
  // The size is set before the content is on disk, so close() waits for both.
  if (::truncate(path.c_str(), static_cast<off_t>(bytes)) != 0) throw_errno("set the size of", path);
  file.close();
}

SharedFile::SharedFile(std::string path) : path_(std::move(path)) {
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_DSYNC | O_NOFOLLOW);
  if (fd_ < 0) throw_errno("open", path_);
  staged_.reserve(kStage);
}

SharedFile::~SharedFile() {
  if (fd_ >= 0) ::close(fd_);
}

void SharedFile::write(std::uint64_t at, std::span<const std::byte> bytes) {
  hash_.add(bytes);
  bytes_ += bytes.size();
  if (at != staged_at_ + staged_.size()) flush();
  if (staged_.empty()) staged_at_ = at;
  while (!bytes.empty()) {
    const std::size_t some = std::min(bytes.size(), kStage - staged_.size());
    staged_.insert(staged_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(some));
    bytes = bytes.subspan(some);
    if (staged_.size() == kStage) flush();
  }
}

/// What follows in the file can be staged behind it.
void SharedFile::flush() {
  for (std::size_t done = 0; done < staged_.size();) {
    const ssize_t count =
        ::pwrite(fd_, staged_.data() + done, staged_.size() - done, static_cast<off_t>(staged_at_ + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_errno("write", path_);
    done += static_cast<std::size_t>(count);
  }
  staged_at_ += staged_.size();
  staged_.clear();
}

FileDigest SharedFile::close() {
  flush();
  const int result = ::close(fd_);
  fd_ = -1;
  if (result != 0) throw_errno("close", path_);  // Some network file systems report a full disk only here.
  return {bytes_, hash_.finish()};
}

}  // namespace trainyard::checkpoints
