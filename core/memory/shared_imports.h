// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "messages/buffer.h"

namespace trainyard::core {

/// The reading side of SharedPool: maps segments of other processes, and returns buffers that refer to them. A segment
/// that is used repeatedly is mapped only once. SharedImports is not thread-safe, so every event loop that receives
/// messages has its own. The buffers may be released on any thread.
class SharedImports {
 public:
  /// `self` is this process's index in the plan, under which SharedPool::lend() counts its references.
  explicit SharedImports(std::uint32_t self);
  ~SharedImports();
  SharedImports(const SharedImports&) = delete;
  SharedImports& operator=(const SharedImports&) = delete;

  /// Returns the buffer that `handle` refers to. The buffer must have been lent to this process. Each call of
  /// SharedPool::lend() counts one reference for this process and permits one call of open(). The reference is released
  /// when the last copy of the returned buffer is destroyed. Throws kPeerLost if the process that owns the memory has
  /// ended, and kCorrupt if the handle does not fit the memory that it refers to.
  Buffer open(const SharedHandle& handle);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainyard::core
