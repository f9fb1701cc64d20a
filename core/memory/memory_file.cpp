// SPDX-License-Identifier: Apache-2.0
#include "core/memory/memory_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "messages/error.h"

namespace trainyard::core {

MemoryFile MemoryFile::make(std::size_t bytes) {
  MemoryFile file(::memfd_create("trainyard", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file.fd_ < 0) throw Error(Code::kIo, "cannot make shared memory: {}", std::strerror(errno));
  // The file is sealed after it has been given its size. Its pages are allocated when they are first touched, so
  // reserving them is cheap.
  if (::ftruncate(file.fd_, static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(file.fd_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
    throw Error(Code::kIo, "cannot reserve {} bytes of shared memory: {}", bytes, std::strerror(errno));
  }
  return file;
}

MemoryFile MemoryFile::open(const SharedHandle& handle) {
  const std::string path = fmt::format("/proc/{}/fd/{}", handle.pid, handle.fd);
  MemoryFile file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (file.fd_ < 0) throw Error(Code::kPeerLost, "cannot open shared memory {}: {}", path, std::strerror(errno));
  struct stat status {};
  // The descriptor number may belong to another file by now, but an inode is not reused while it is open.
  if (::fstat(file.fd_, &status) != 0 || status.st_ino != handle.inode) {
    throw Error(Code::kPeerLost, "shared memory {} has inode {}, the handle says {}: its owner is gone", path,
                status.st_ino, handle.inode);
  }
  if (static_cast<std::uint64_t>(status.st_size) != handle.segment_bytes) {
    throw Error(Code::kCorrupt, "shared memory {} has {} bytes, the handle says {}", path, status.st_size,
                handle.segment_bytes);
  }
  return file;
}

MemoryFile::MemoryFile(MemoryFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

MemoryFile& MemoryFile::operator=(MemoryFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

MemoryFile::~MemoryFile() {
  if (fd_ >= 0) ::close(fd_);
}

int MemoryFile::release() { return std::exchange(fd_, -1); }

// The handle contains the pid of this process, so only the process that has opened the descriptor may make a handle.
SharedHandle MemoryFile::handle_of(int fd) {
  struct stat status {};
  ::fstat(fd, &status);
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  return {.pid = ::getpid(), .fd = fd, .inode = status.st_ino, .segment_bytes = bytes, .bytes = bytes};
}

}  // namespace trainyard::core
