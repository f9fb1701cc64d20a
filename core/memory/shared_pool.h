// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "messages/buffer.h"

namespace trainyard::core {

/// A pool of memory that other processes of this host can map. The memory consists of sealed memfds, called segments. A
/// segment is written once, read in place, and reused when every reader has released it.
///
/// A counted segment starts with a page that holds, for every process of the run, the number of references that the
/// process has. A reader returns its references itself. If a reader dies, the launcher reports its death, and forget()
/// removes the references of that reader. No memory of the pool is therefore leaked, and nothing remains in /dev/shm,
/// because a memfd has no name.
///
/// Thread-safe.
class SharedPool {
 public:
  /// The maximum number of processes of a run. The first page of a segment has room for one counter per process; see
  /// docs/decisions/0004.
  static constexpr std::uint32_t kMaxProcesses = 256;

  SharedPool();
  ~SharedPool();
  SharedPool(const SharedPool&) = delete;
  SharedPool& operator=(const SharedPool&) = delete;

  /// Returns an uninitialised buffer of `bytes`, aligned to a page. The pool reuses the memory when no process holds a
  /// reference to it. A steady stream reuses segments and makes no system calls. Throws kIo.
  Buffer allocate(std::size_t bytes);

  /// Returns a zeroed buffer whose memory is never reused, such as the parameter arena. Its references are not counted,
  /// so lending it costs nothing, and a reader may keep its address. Throws kIo.
  Buffer allocate_permanent(std::size_t bytes);

  /// Counts one more reference of process `reader` to a counted buffer. A sender must call this before it sends the
  /// handle. Does nothing for permanent memory. Throws kUnsupported for a process that has no counter.
  static void lend(const Buffer& buffer, std::uint32_t reader);

  /// Removes all references of the dead process `reader` to buffers of this pool.
  void forget(std::uint32_t reader);

  /// Returns surplus segments to the system: segments that were free during several calls in a row while many others
  /// were allocated, or during very many calls. The process calls this about once a second.
  void trim();

  /// Returns the total size in bytes of all segments, in use or not.
  std::size_t reserved_bytes() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  ///< Shared with the buffers, which may outlive the pool.
};

}  // namespace trainyard::core
