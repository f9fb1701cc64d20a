#pragma once

#include <cstdint>
#include <memory>

#include "messages/buffer.h"

namespace trainyard {

/// The reading side of SharedPool: maps segments of other processes, once each, and gives references back.
/// Not thread-safe: every event loop that receives has its own. The buffers may be released on any thread.
class SharedImports {
 public:
  /// `self`: this process's number in the plan, under which lenders count its references.
  explicit SharedImports(std::uint32_t self);
  ~SharedImports();
  SharedImports(const SharedImports&) = delete;
  SharedImports& operator=(const SharedImports&) = delete;

  /// The buffer behind a handle that was lent to this process. Throws kPeerLost if its owner is gone, kCorrupt if the
  /// handle does not fit the memory it names. One open() for one lend(): the reference goes back with the last copy of
  /// the buffer.
  Buffer open(const SharedHandle& handle);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainyard
