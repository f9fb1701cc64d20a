#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "messages/buffer.h"

namespace trainyard {

/// Memory that other processes of this host can map: sealed memfds, written once, read in place, and used again when
/// every reader has let go.
///
/// A counted segment starts with a page that holds, for every process of the run, how many references that process has.
/// A reader gives its references back by itself; when a reader dies, the launcher says so and `forget` gives back for
/// it. So nothing can be left behind, neither in /dev/shm (a memfd has no name) nor in the pool.
///
/// Thread-safe.
class SharedPool {
 public:
  /// As many counters fit the first page of a segment with room to spare; see docs/decisions/0004.
  static constexpr std::uint32_t kMaxProcesses = 256;

  SharedPool();
  ~SharedPool();
  SharedPool(const SharedPool&) = delete;
  SharedPool& operator=(const SharedPool&) = delete;

  /// A buffer of `bytes`, aligned to a page, uninitialised. Goes back to the pool when the last reference of every
  /// process is gone. Throws kIo. In a steady stream it finds a segment that has been used before, and makes no system
  /// call.
  Buffer allocate(std::size_t bytes);

  /// A zeroed buffer that keeps its memory as long as this process lives: the parameter arena. Not counted, so lending
  /// it costs nothing, and a reader may keep its address. Throws kIo.
  Buffer allocate_permanent(std::size_t bytes);

  /// Counts one more reference of process `reader` to a counted buffer; called by the sender of a handle, before the
  /// handle leaves. Throws kUnsupported for a process that has no counter. Does nothing for permanent memory.
  static void lend(const Buffer& buffer, std::uint32_t reader);

  /// Process `reader` is dead: takes back every reference it had to a buffer of this pool.
  void forget(std::uint32_t reader);

  /// Bytes of all segments, in use or not.
  std::size_t reserved_bytes() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  ///< Shared with the buffers, which may outlive the pool.
};

}  // namespace trainyard
