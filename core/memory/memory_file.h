// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "messages/buffer.h"

namespace trainyard::core {

/// The size of a memory page, in bytes.
constexpr std::size_t kPage = 4096;

/// A sealed memfd: memory without a name, which other processes of the same user can open through /proc with a handle.
/// The kernel frees the memory as soon as no process has the file open or mapped, even after a crash.
class MemoryFile {
 public:
  /// Makes a file of `bytes` zeros whose size can no longer be changed, so that no reader can be killed by SIGBUS.
  /// Throws kIo if this fails.
  static MemoryFile make(std::size_t bytes);

  /// Opens the file that a handle refers to. Throws kPeerLost if the process that made the file has ended or has closed
  /// the descriptor, even if the number of the descriptor has been reused; the inode in the handle shows this. Throws
  /// kCorrupt if the size of the file differs from the size in the handle.
  static MemoryFile open(const SharedHandle& handle);

  MemoryFile(MemoryFile&& other) noexcept;
  MemoryFile& operator=(MemoryFile&& other) noexcept;
  ~MemoryFile();

  /// Returns the descriptor, which stays open as long as this object exists. Other processes open the file through this
  /// descriptor, so the object must exist as long as another process may open the file.
  int fd() const { return fd_; }
  /// Returns the descriptor and passes its ownership to the caller, who must close it.
  int release();

  /// Returns a handle to the whole file. References to the file are not counted (SharedHandle::counted is 0). Only the
  /// process that made the file may call this.
  SharedHandle handle() const { return handle_of(fd_); }
  /// Returns the same handle as handle(), for a file whose descriptor `fd` was returned by release().
  static SharedHandle handle_of(int fd);

 private:
  explicit MemoryFile(int fd) : fd_(fd) {}

  int fd_ = -1;
};

}  // namespace trainyard::core
