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
  std::int32_t pipe = -1;  ///< The descriptor in the process `state.pid`.
};

/// Lets others wake one sleeping thread, at the cost of one atomic load when it is awake. Other threads use this
/// object; other processes use a PeerWakeup.
///
/// The sleeping thread calls prepare(), checks once more for work, then sleeps on fd(). A producer first makes its work
/// visible and then calls notify(). Sequential consistency between the two makes a lost wake-up impossible. The flag is
/// in shared memory and the signal is a byte in a pipe, because other processes can open both through /proc, which is
/// impossible with an eventfd.
class Wakeup {
 public:
  Wakeup();
  ~Wakeup();
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  /// Returns a descriptor for poll(). It becomes readable after a notification.
  int fd() const { return pipe_[0]; }
  /// Returns the handle for another process of the same user, valid while this object lives.
  WakeupHandle handle() const;

  /// Announces that the thread is about to sleep. After this the thread must check for work once more, and it must call
  /// done() in every case.
  void prepare() {
    asleep().store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }

  /// Announces that the thread is awake again, and empties the pipe if it was signalled.
  void done();

  /// Wakes the thread if it sleeps. Any thread may call it after making the work visible. It makes a system call only
  /// if the thread sleeps, and only one if several threads call it.
  void notify();

 private:
  std::atomic<std::uint32_t>& asleep() const { return *reinterpret_cast<std::atomic<std::uint32_t>*>(page_.data()); }

  int state_fd_;
  Mapping page_;
  int pipe_[2];
};

/// The Wakeup of a thread in another process.
class PeerWakeup {
 public:
  /// Opens the handle. Throws kPeerLost if that process has ended.
  explicit PeerWakeup(const WakeupHandle& handle);
  ~PeerWakeup();
  PeerWakeup(const PeerWakeup&) = delete;
  PeerWakeup& operator=(const PeerWakeup&) = delete;

  /// Does what Wakeup::notify does, from another process. It does nothing if the sleeping process has ended.
  void notify();

 private:
  Mapping page_;
  int pipe_;
};

}  // namespace trainyard::core
