// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "messages/buffer.h"

namespace trainyard::core {

/// The size of a memory page, in bytes.
constexpr std::size_t kPage = 4096;

/// A sealed memfd: memory without a name, which other processes of the same user open through /proc with the help of a
/// handle. The kernel frees the memory as soon as no process has the file open or mapped, even after a crash.
class MemoryFile {
 public:
  /// Makes a zeroed file whose size can no longer be changed, so that no reader can be killed by SIGBUS. Throws kIo.
  static MemoryFile make(std::size_t bytes);

  /// Opens the file of a handle. Throws kPeerLost if the process that made the file has ended. A reused descriptor is
  /// detected by its inode. Throws kCorrupt if the file does not have the size that the handle contains.
  static MemoryFile open(const SharedHandle& handle);

  MemoryFile(MemoryFile&& other) noexcept;
  MemoryFile& operator=(MemoryFile&& other) noexcept;
  ~MemoryFile();

  /// Returns the descriptor, which stays open as long as this object exists. Other processes open the file through this
  /// descriptor, so the object must exist as long as another process may open the file.
  int fd() const { return fd_; }
  /// Returns the descriptor and passes its ownership to the caller, who must close it.
  int release();

  /// Returns a handle to the whole file, as memory whose references are not counted. Only the process that made the
  /// file may call this.
  SharedHandle handle() const { return handle_of(fd_); }
  /// Returns a handle to the whole file behind `fd`, a descriptor returned by release(). See handle().
  static SharedHandle handle_of(int fd);

 private:
  explicit MemoryFile(int fd) : fd_(fd) {}

  int fd_ = -1;
};

}  // namespace trainyard::core
