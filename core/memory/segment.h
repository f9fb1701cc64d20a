// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/memory/shared_pool.h"

namespace trainyard::core {

/// The first page of a counted segment (SharedPool). The owner of the segment and every reader map this page. It is in
/// shared memory, so it consists of lock-free atomics only and never contains a pointer.
///
/// Each process of the run has two counters, which are only incremented and may wrap around: the owner counts the
/// references that it has lent to the process, and the process counts those that it has returned. While a process
/// lives, each of its two counters is written by one process only. A process with a single thread therefore needs no
/// atomic additions, which some languages do not have.
struct SegmentHeader {
  static constexpr std::size_t kBytes = 4096;
  std::atomic<std::uint32_t> lent[SharedPool::kMaxProcesses];
  std::atomic<std::uint32_t> returned[SharedPool::kMaxProcesses];

  /// Returns true if no process holds a reference. The loads of `returned` have acquire order, so all accesses of the
  /// former readers have happened before this function returns true.
  bool free() const {
    for (std::uint32_t reader = 0; reader < SharedPool::kMaxProcesses; ++reader) {
      if (returned[reader].load(std::memory_order_acquire) != lent[reader].load(std::memory_order_relaxed))
        return false;
    }
    return true;
  }
};
static_assert(sizeof(SegmentHeader) <= SegmentHeader::kBytes);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

/// A mapped memfd. The mapping stays valid after the descriptor is closed and after the process that made the file has
/// ended.
class Mapping {
 public:
  /// Makes an empty mapping.
  Mapping() = default;
  /// Maps the first `bytes` bytes of the file with the descriptor `fd` as shared memory. If `writable` is false, the
  /// memory can only be read. Throws kIo if the file cannot be mapped.
  Mapping(int fd, std::size_t bytes, bool writable);
  ~Mapping();
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;

  std::byte* data() const { return data_; }
  std::size_t size() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace trainyard::core
