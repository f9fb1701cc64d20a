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

/// The memory of a simulated device for tests. It was made by this process, or it belongs to a device of another
/// process and has been opened here.
///
/// The memory is mapped into the process twice. The first mapping is protected: it supplies the device's addresses, and
/// code that mistakes such an address for an address in host memory crashes immediately, as with most real devices. The
/// second mapping, the window, is accessible. Only the device's kernels and copy operations use it.
class Memory {
 public:
  /// The size of a page. Every block begins at a page boundary, so that the pages of a block that is freed can be
  /// returned to the operating system.
  static constexpr std::size_t kGrain = 4096;

  /// Makes memory of `bytes` bytes. Only pages that have been used occupy host memory.
  static std::shared_ptr<Memory> make(std::size_t bytes);
  /// Opens the memory of a device in another process. The errors are those of core::MemoryFile::open. Only the other
  /// process can allocate blocks in this memory.
  static std::shared_ptr<Memory> open(const SharedHandle& handle);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::size_t bytes() const { return bytes_; }
  /// Returns a handle with which another process can open the whole memory. Only the process that made the memory may
  /// call this.
  SharedHandle handle() const { return file_.handle(); }

  /// Reserves `bytes` bytes of zeroed memory and returns their offset. `what` describes, for error messages, what the
  /// memory is for. Throws kUnsupported if no free range is large enough; the error lists what occupies the memory.
  std::size_t take(std::size_t bytes, const std::string& what);
  /// Frees the memory that take() reserved at `offset`, and returns its pages to the operating system.
  void give_back(std::size_t offset);
  /// Returns the number of bytes in use.
  std::size_t used() const;

  /// Returns the device's address of the byte at `offset`.
  std::byte* address(std::size_t offset) const { return protected_ + offset; }
  /// Returns the address through which the device's kernels and copy operations access the byte at `offset`.
  std::byte* window(std::size_t offset) const { return window_ + offset; }
  /// Translates `address`, an address of the device, to the address through which the device's kernels and copy
  /// operations access the same byte. Returns null if `address` is not in this memory.
  std::byte* window_of(const void* address) const;

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
