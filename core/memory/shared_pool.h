// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "messages/buffer.h"

namespace trainyard::core {

/// A pool of memory that other processes of this host can map. The memory consists of sealed memfds, called segments.
/// Data is written into a segment once and read in place. When every reader has released the segment, it is reused.
///
/// A counted segment starts with a page of counters (SegmentHeader), which yield the number of references that each
/// process of the run holds. A reader updates its own counter when it has finished with the segment. If a reader dies,
/// the launcher informs the process that owns the pool, which calls forget() to remove the references of the dead
/// reader. No memory of the pool is therefore leaked, and nothing remains in /dev/shm, because a memfd has no name.
///
/// Thread-safe.
class SharedPool {
 public:
  /// The maximum number of processes that can read the memory in place; all further processes of the run receive
  /// copies. The first page of a segment has room for one counter per process; see docs/decisions/0004.
  static constexpr std::uint32_t kMaxProcesses = 256;

  SharedPool();
  ~SharedPool();
  SharedPool(const SharedPool&) = delete;
  SharedPool& operator=(const SharedPool&) = delete;

  /// Returns an uninitialised buffer of `bytes` bytes, aligned to a page. When no process holds a reference to the
  /// memory any longer, the pool reuses it for a later call. Repeated allocations of similar size therefore need no
  /// system calls. Throws kIo if the memory cannot be allocated.
  Buffer allocate(std::size_t bytes);

  /// Returns a zeroed buffer whose memory is never reused, for data such as the parameters of a model. Its references
  /// are not counted, so lending it costs nothing, and a reader may keep its address. Throws kIo if the memory cannot
  /// be allocated.
  Buffer allocate_permanent(std::size_t bytes);

  /// Counts one more reference that a process holds to `buffer`, which a SharedPool must have allocated. `reader` is
  /// the index of the process in the plan. A sender must call this function before it sends the handle of the buffer.
  /// Does nothing for permanent memory. Throws kUnsupported if `reader` is not less than kMaxProcesses.
  static void lend(const Buffer& buffer, std::uint32_t reader);

  /// Records that the process `pid` now has the index `reader` in the plan, under which its references are counted. If
  /// another process had this index before, it is assumed to have died, and its references are removed. Call this
  /// before the first buffer is lent to the new process. Does nothing if `pid` is 0, which means that it is unknown.
  void admit(std::uint32_t reader, pid_t pid);

  /// Removes all references to buffers of this pool that were held by the process with the index `reader` and the pid
  /// `dead`, which has died. Does nothing if a process with another pid has been admitted in its place already. If
  /// `dead` is 0, which means that the pid is unknown, the references are removed in any case.
  void forget(std::uint32_t reader, pid_t dead);

  /// Returns surplus segments to the system. A segment is surplus if it has stayed unused during many calls of trim(),
  /// or during a few calls and many allocations. In a run, the Gateway calls this function about once a second.
  void trim();

  /// Returns the total size in bytes of all segments, in use or not.
  std::size_t reserved_bytes() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  ///< Shared with the buffers, which may outlive the pool.
};

}  // namespace trainyard::core
