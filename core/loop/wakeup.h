#pragma once

#include <atomic>

namespace trainyard {

/// Lets other threads wake one sleeping thread, at the cost of one atomic load when it is awake.
///
/// The sleeper calls prepare(), looks once more for work, then sleeps on fd(). A producer makes its work visible first
/// and calls notify() afterwards. Sequential consistency between the two makes a lost wake-up impossible.
class Wakeup {
 public:
  Wakeup();
  ~Wakeup();
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  int fd() const { return fd_; }

  void prepare() {
    asleep_.store(true, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }

  /// Awake again: resets the descriptor if it was signalled.
  void done();

  void notify() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (asleep_.load(std::memory_order_relaxed)) signal();
  }

 private:
  void signal();

  int fd_;
  std::atomic<bool> asleep_{false};
};

}  // namespace trainyard
