// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "core/memory/segment.h"
#include "messages/buffer.h"

namespace trainyard::core {

/// The data that another process of this host needs to use a Wakeup.
struct WakeupHandle {
  SharedHandle state;      ///< Refers to the shared page with the flag that marks the Wakeup's thread as asleep.
  std::int32_t pipe = -1;  ///< The descriptor of the write end of the pipe, in the process `state.pid`.
};

/// An object through which other threads wake one sleeping thread. Threads of the same process call notify(), which
/// costs one fence and one atomic load while the thread is awake. Other processes use a PeerWakeup.
///
/// The thread that is about to sleep calls prepare(), checks once more for work, polls fd() if there is none, and then
/// calls done(). A thread that has produced work first makes the work visible and then calls notify(). The sequentially
/// consistent fences in prepare() and notify() make a lost wake-up impossible. The flag that marks the thread as asleep
/// is in shared memory, and the wake-up signal is a byte in a pipe. Other processes can open both through /proc, but
/// could not open an eventfd in this way.
class Wakeup {
 public:
  Wakeup();
  ~Wakeup();
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  /// Returns a descriptor for poll(), which becomes readable when notify() wakes the thread.
  int fd() const { return pipe_[0]; }
  /// Returns the handle with which another process of the same user makes a PeerWakeup. The handle is valid as long as
  /// this object exists.
  WakeupHandle handle() const;

  /// Marks the thread as asleep, so that notify() wakes it. After this call the thread must check for work once more,
  /// sleep only if there is none, and call done() in any case.
  void prepare() {
    asleep().store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }

  /// Marks the thread as awake, and empties the pipe.
  void done();

  /// Wakes the thread if it is marked as asleep. Any thread may call this function after making its work visible. The
  /// function makes a system call only if the thread is marked as asleep. If several threads call it at the same time,
  /// only one of them makes the system call.
  void notify();

 private:
  std::atomic<std::uint32_t>& asleep() const { return *reinterpret_cast<std::atomic<std::uint32_t>*>(page_.data()); }

  int state_fd_;
  Mapping page_;
  int pipe_[2];
};

/// An object through which the threads of another process wake the thread of a Wakeup.
class PeerWakeup {
 public:
  /// Opens the Wakeup that `handle` refers to. Throws kPeerLost if the process that made it has ended.
  explicit PeerWakeup(const WakeupHandle& handle);
  ~PeerWakeup();
  PeerWakeup(const PeerWakeup&) = delete;
  PeerWakeup& operator=(const PeerWakeup&) = delete;

  /// Wakes the thread if it sleeps, like Wakeup::notify(). Has no effect if the process of the thread has ended.
  void notify();

 private:
  Mapping page_;
  int pipe_;
};

}  // namespace trainyard::core
