// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include "messages/buffer.h"

namespace trainyard::cuda_device {

/// The buffers in host memory that this process has page-locked. A copy from or to page-locked memory is as fast as the
/// link allows, and the thread that submits it does not wait. Thread-safe.
class PageLocks {
 public:
  explicit PageLocks(int gpu) : gpu_(gpu) {}
  ~PageLocks();
  PageLocks(const PageLocks&) = delete;
  PageLocks& operator=(const PageLocks&) = delete;

  /// Page-locks the whole buffer, if it is at least as large as a page and is not locked yet. Once nothing else refers
  /// to its memory, the next call that locks another buffer unlocks it. If the operating system refuses to lock a
  /// buffer, copies still work, but are slower.
  void lock(const Buffer& buffer);

  /// Forgets the buffers without unlocking them. Called when a stream is destroyed before all its operations are done,
  /// because the driver would wait for this stream before it unlocks memory.
  void abandon();

 private:
  void release_unused();

  int gpu_;
  std::mutex mutex_;
  std::map<std::byte*, Buffer> locked_;
};

}  // namespace trainyard::cuda_device
