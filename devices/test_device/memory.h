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

/// The memory of a test device. Either this process or another process has made it.
///
/// The memory is mapped into the process twice. The first mapping is protected: it supplies the device's addresses, and
/// code that uses one of them as if it were in host memory crashes at once, as with most real devices. The second
/// mapping, the window, is accessible. Only kernels and copies of the device know its addresses.
class Memory {
 public:
  /// Every block begins at a page, so that the pages of a block that is freed can be returned to the system.
  static constexpr std::size_t kGrain = 4096;

  /// Makes memory of `bytes` bytes. It occupies host memory only for the pages that are used.
  static std::shared_ptr<Memory> make(std::size_t bytes);
  /// Opens the memory of another process; see core::MemoryFile::open. This process cannot allocate in it.
  static std::shared_ptr<Memory> open(const SharedHandle& handle);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::size_t bytes() const { return bytes_; }
  /// Returns the handle of the whole memory. Only the process that made the memory may pass the handle to other
  /// processes.
  SharedHandle handle() const { return file_.handle(); }

  /// Reserves `bytes` bytes of zeroed memory and returns their offset. `what` describes their purpose in error
  /// messages. Throws kUnsupported if no free range is large enough; the error lists what occupies the memory.
  std::size_t take(std::size_t bytes, const std::string& what);
  /// Frees the memory that take() reserved at `offset`, and returns its pages to the operating system.
  void give_back(std::size_t offset);
  /// Returns the number of bytes in use.
  std::size_t used() const;

  /// Returns the device's address of the byte at `offset`.
  std::byte* address(std::size_t offset) const { return protected_ + offset; }
  /// Returns the address through which kernels and copies of the device access the byte at `offset`.
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
  std::map<std::size_t, Use> uses_;  ///< The reserved ranges, by offset.
};

}  // namespace trainyard::test_device
