// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/memory/memory_file.h"
#include "messages/buffer.h"

namespace trainyard::test_device {

/// The memory of a test device, of this process or of another one.
///
/// The memory is mapped twice. The addresses of the device are protected: whatever uses one as if it were host memory
/// crashes at once, as with most real devices. Kernels and copies of the device use the window, whose addresses nobody
/// else learns.
class Memory {
 public:
  /// Every block begins at a page, so that the pages of a block that is freed can be returned to the system.
  static constexpr std::size_t kGrain = 4096;

  /// Makes memory of `bytes` bytes, which occupy memory of the host only where they are used.
  static std::shared_ptr<Memory> make(std::size_t bytes);
  /// Opens the memory of another process; see core::MemoryFile::open. This process cannot allocate in it.
  static std::shared_ptr<Memory> open(const SharedHandle& handle);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::size_t bytes() const { return bytes_; }
  /// Returns the handle of the whole memory, which only the process that made the memory may give to others.
  SharedHandle handle() const { return file_.handle(); }

  /// Reserves zeroed memory and returns its offset. Throws kUnsupported, naming what holds the memory, if no hole is
  /// large enough.
  std::size_t take(std::size_t bytes, const std::string& what);
  /// Frees what take() reserved, and returns its pages to the system.
  void give_back(std::size_t offset);
  /// Returns the number of bytes in use.
  std::size_t used() const;

  /// Returns the device's address of a byte.
  std::byte* address(std::size_t offset) const { return protected_ + offset; }
  /// Returns the address at which kernels and copies access a byte.
  std::byte* window(std::size_t offset) const { return window_ + offset; }

 private:
  struct Use {
    std::size_t bytes = 0;
    std::string what;
  };

  Memory(core::MemoryFile file, std::size_t bytes);
  std::string holders() const;
  std::size_t used_bytes() const;

  core::MemoryFile file_;
  std::size_t bytes_;
  std::byte* protected_ = nullptr;
  std::byte* window_ = nullptr;
  mutable std::mutex mutex_;
  std::map<std::size_t, Use> uses_;  ///< What is in use, by offset.
};

}  // namespace trainyard::test_device
