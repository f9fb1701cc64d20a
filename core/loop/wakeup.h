#pragma once

#include <atomic>
#include <cstdint>

#include "core/memory/segment.h"
#include "messages/buffer.h"

namespace trainyard {

/// Where another process of this host finds a Wakeup.
struct WakeupHandle {
  SharedHandle state;      ///< The page with the flag.
  std::int32_t pipe = -1;  ///< Descriptor in the process `state.pid`.
};

/// Lets others wake one sleeping thread, at the cost of one atomic load when it is awake: other threads by this object,
/// other processes by a PeerWakeup.
///
/// The sleeper calls prepare(), looks once more for work, then sleeps on fd(). A producer makes its work visible first
/// and calls notify() afterwards. Sequential consistency between the two makes a lost wake-up impossible. The flag lies
/// in shared memory and the signal is a byte in a pipe, because both can be reached by other processes through /proc,
/// which an eventfd cannot.
class Wakeup {
 public:
  Wakeup();
  ~Wakeup();
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  /// Readable when somebody has notified; for poll().
  int fd() const { return pipe_[0]; }
  /// For another process of the same user; valid while this object lives.
  WakeupHandle handle() const;

  /// About to sleep. To be followed by one more look for work, and by done() in any case.
  void prepare() {
    asleep().store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }

  /// Awake again: empties the pipe if it was signalled.
  void done();

  /// From any thread, after the work has been made visible. A system call only if the thread sleeps; of several callers
  /// one makes it.
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
  /// Throws kPeerLost if that process is gone.
  explicit PeerWakeup(const WakeupHandle& handle);
  ~PeerWakeup();
  PeerWakeup(const PeerWakeup&) = delete;
  PeerWakeup& operator=(const PeerWakeup&) = delete;

  /// As Wakeup::notify, from the other process. Harmless if that process is gone.
  void notify();

 private:
  Mapping page_;
  int pipe_;
};

}  // namespace trainyard
