// SPDX-License-Identifier: Apache-2.0
#include "recordings/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "messages/error.h"
#include "recordings/compression.h"

namespace trainyard::recordings {
namespace {

[[noreturn]] void throw_errno(std::string_view verb, const std::string& path) {
  const Code code = errno == ENOENT ? Code::kNotFound : Code::kIo;
  throw Error(code, "cannot {} {}: {}", verb, path, std::strerror(errno));
}

}  // namespace

OutputFile::OutputFile(std::string path)
    : path_(std::move(path)), fd_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) {
  if (fd_ < 0) throw_errno("create", path_);
}

OutputFile::~OutputFile() { ::close(fd_); }

void OutputFile::append(std::string_view piece) {
  std::string_view rest = piece;
  while (!rest.empty()) {
    const ssize_t written = ::write(fd_, rest.data(), rest.size());
    if (written > 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (written < 0 && errno != EINTR) {
      const int reason = errno;
      // If ftruncate() fails, too, the file ends in the middle of a record. Readers detect this.
      if (::ftruncate(fd_, static_cast<off_t>(size_)) == 0) ::lseek(fd_, static_cast<off_t>(size_), SEEK_SET);
      errno = reason;
      throw_errno("write", path_);
    }
  }
  size_ += piece.size();
  crc_ = crc32_of(piece, crc_);
}

// Without O_NONBLOCK, opening a FIFO would wait for a writer.
InputFile::InputFile(std::string path)
    : path_(std::move(path)), fd_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (fd_ < 0) throw_errno("open", path_);
  struct stat status {};
  if (::fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(fd_);
    throw Error(Code::kIo, "{} is not a regular file", path_);
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() { ::close(fd_); }

std::string InputFile::read(std::uint64_t offset, std::uint64_t length) const {
  if (offset > size_ || length > size_ - offset) {
    throw Error(Code::kCorrupt, "{} has {} bytes; {} were expected at byte {}", path_, size_, length, offset);
  }
  std::string bytes(length, '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::pread(fd_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (got == 0) throw Error(Code::kCorrupt, "{} has become shorter while it was read", path_);
    if (got < 0 && errno != EINTR) throw_errno("read", path_);
    if (got > 0) done += static_cast<std::size_t>(got);
  }
  return bytes;
}

}  // namespace trainyard::recordings
