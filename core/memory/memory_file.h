#pragma once

#include <cstddef>

#include "messages/buffer.h"

namespace trainyard {

/// Memory is mapped in units of this.
constexpr std::size_t kPage = 4096;

/// A sealed memfd: memory without a name, which other processes of the same user reach through /proc by its handle. It
/// is gone with the last process that has it open or mapped, so a crash leaves nothing behind.
class MemoryFile {
 public:
  /// Zeroed, of a size that nobody can change any more: no reader can be killed by SIGBUS. Throws kIo.
  static MemoryFile make(std::size_t bytes);

  /// Opens what the handle names. Throws kPeerLost if its owner is gone (a reused descriptor is noticed by its inode),
  /// kCorrupt if it has another size.
  static MemoryFile open(const SharedHandle& handle);

  MemoryFile(MemoryFile&& other) noexcept;
  MemoryFile& operator=(MemoryFile&& other) noexcept;
  ~MemoryFile();

  /// Stays open as long as this object: others open it through /proc, so it must not be closed while they may want to.
  int fd() const { return fd_; }
  /// The caller closes it.
  int release();

  /// Of the whole file, not counted; for the process that made it.
  SharedHandle handle() const { return handle_of(fd_); }
  static SharedHandle handle_of(int fd);

 private:
  explicit MemoryFile(int fd) : fd_(fd) {}

  int fd_ = -1;
};

}  // namespace trainyard
