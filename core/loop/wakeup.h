// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "core/memory/segment.h"
#include "messages/buffer.h"

namespace trainyard::core {

/// The data that another process of this host needs to use a Wakeup.
struct WakeupHandle {
  SharedHandle state;      ///< The page with the flag.
  std::int32_t pipe = -1;  ///< The number of the descriptor in the process `state.pid`.
};

/// A means to wake one sleeping thread. A call of notify() costs one atomic load while the thread is awake. Other
/// threads of the process use this object; other processes use a PeerWakeup.
///
/// The sleeping thread calls prepare(), checks once more for work, then sleeps on fd(). A producer first makes its work
/// visible and then calls notify(). The sequentially consistent fences in prepare() and notify() make a lost wake-up
/// impossible. The flag is in shared memory and the signal is a byte in a pipe, because other processes can open both
/// through /proc, but could not open an eventfd in this way.
class Wakeup {
 public:
  Wakeup();
  ~Wakeup();
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  /// Returns a descriptor for poll(). It becomes readable after a notification.
  int fd() const { return pipe_[0]; }
  /// Returns the handle for another process of the same user. It is valid as long as this object exists.
  WakeupHandle handle() const;

  /// Announces that the thread is about to sleep. After this call the thread must check for work once more, and then
  /// call done(), even if it does not sleep.
  void prepare() {
    asleep().store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }

  /// Announces that the thread is awake again, and empties the pipe.
  void done();

  /// Wakes the thread if it sleeps. Any thread may call this after making its work visible. The call makes a system
  /// call only if the thread sleeps. If several threads call at the same time, only one of them makes the system call.
  void notify();

 private:
  std::atomic<std::uint32_t>& asleep() const { return *reinterpret_cast<std::atomic<std::uint32_t>*>(page_.data()); }

  int state_fd_;
  Mapping page_;
  int pipe_[2];
};

/// The counterpart of a Wakeup in another process.
class PeerWakeup {
 public:
  /// Opens the handle. Throws kPeerLost if the process that made the Wakeup has ended.
  explicit PeerWakeup(const WakeupHandle& handle);
  ~PeerWakeup();
  PeerWakeup(const PeerWakeup&) = delete;
  PeerWakeup& operator=(const PeerWakeup&) = delete;

  /// Wakes the thread if it sleeps, like Wakeup::notify(). Does nothing if the process of the thread has ended.
  void notify();

 private:
  Mapping page_;
  int pipe_;
};

}  // namespace trainyard::core
