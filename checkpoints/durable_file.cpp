// SPDX-License-Identifier: Apache-2.0
#include "checkpoints/durable_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "messages/error.h"

namespace trainyard::checkpoints {

void throw_errno(std::string_view what, const std::string& path) {
  throw Error(Code::kIo, "cannot {} {}: {}", what, path, std::strerror(errno));
}

DurableFile::DurableFile(std::string path) : path_(std::move(path)) {
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd_ < 0) throw_errno("create", path_);
}

DurableFile::~DurableFile() {
  if (fd_ >= 0) ::close(fd_);
}

// Hashes the bytes before they are written. So the file need not be read again, and the hash describes what should be
// in the file, not what the disk returns.
void DurableFile::write(std::span<const std::byte> bytes) {
  hash_.add(bytes);
  bytes_ += bytes.size();
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_errno("write", path_);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void DurableFile::write(std::string_view text) { write(std::as_bytes(std::span(text))); }

// Without fsync(), a crash of the machine soon afterwards could leave a file of the right name and size without its
// content.
FileDigest DurableFile::close() {
  if (::fsync(fd_) != 0) throw_errno("sync", path_);
  const int result = ::close(fd_);
  fd_ = -1;
  if (result != 0) throw_errno("close", path_);  // Some network file systems report a full disk only here.
  return {bytes_, hash_.finish()};
}

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  // Without O_NONBLOCK, open() would wait for a writer if the path is a named pipe.
  fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd_ < 0 && errno == ENOENT) throw Error(Code::kNotFound, "there is no file {}", path_);
  if (fd_ < 0) throw_errno("open", path_);
  struct stat status {};
  // fstat() examines the open file. The path could already refer to another file.
  const bool regular = ::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode);
  if (!regular) {
    ::close(fd_);
    throw Error(Code::kIo, "cannot read {}: it is not a regular file", path_);
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() { ::close(fd_); }

// pread() uses no file position, so several threads may read at the same time.
void InputFile::read(std::uint64_t position, std::span<std::byte> into) const {
  while (!into.empty()) {
    const ssize_t count = ::pread(fd_, into.data(), into.size(), static_cast<off_t>(position));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_errno("read", path_);
    if (count == 0)
      throw Error(Code::kCorrupt, "{} ends at byte {}; {} more were expected", path_, position, into.size());
    into = into.subspan(static_cast<std::size_t>(count));
    position += static_cast<std::uint64_t>(count);
  }
}

void sync_directory(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) throw_errno("open", path);
  const int result = ::fsync(fd);
  // close() may change errno, but the error must report why fsync() failed.
  const int reason = errno;
  ::close(fd);
  errno = reason;
  if (result != 0) throw_errno("sync", path);
}

}  // namespace trainyard::checkpoints
