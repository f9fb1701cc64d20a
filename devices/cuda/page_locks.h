// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include "messages/buffer.h"

namespace trainyard::cuda_device {

/// The buffers in host memory that this process has page-locked. A copy from or to page-locked memory is as fast as the
/// link and does not make the thread wait that submits it. Thread-safe.
class PageLocks {
 public:
  explicit PageLocks(int gpu) : gpu_(gpu) {}
  ~PageLocks();
  PageLocks(const PageLocks&) = delete;
  PageLocks& operator=(const PageLocks&) = delete;

  /// Page-locks the whole buffer, if it has at least the size of a page and is not locked yet. The buffer stays locked
  /// until nothing else refers to its memory and another buffer is locked. If the operating system refuses, copies are
  /// only slower.
  void lock(const Buffer& buffer);

  /// Called if a stream still waits when it is destroyed: the driver would wait for it when memory is unlocked.
  void abandon();

 private:
  void release_unused();

  int gpu_;
  std::mutex mutex_;
  std::map<std::byte*, Buffer> locked_;
};

}  // namespace trainyard::cuda_device
