#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

namespace trainyard {

/// A bounded queue from one thread to one other, without locks and without allocation after construction.
template <class T>
class SpscRing {
 public:
  explicit SpscRing(std::size_t capacity) : slots_(std::bit_ceil(capacity)), mask_(slots_.size() - 1) {}

  /// Producer only. False if full; the value is then untouched.
  bool push(T&& value) {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_.load(std::memory_order_acquire) > mask_) return false;
    slots_[tail & mask_] = std::move(value);
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }

  /// Consumer only. False if empty.
  bool pop(T& value) {
    const std::size_t head = head_.load(std::memory_order_relaxed);
    if (head == tail_.load(std::memory_order_acquire)) return false;
    value = std::exchange(slots_[head & mask_], T{});
    head_.store(head + 1, std::memory_order_release);
    return true;
  }

  bool empty() const { return head_.load(std::memory_order_acquire) == tail_.load(std::memory_order_acquire); }

 private:
  std::vector<T> slots_;
  std::size_t mask_;
  alignas(64) std::atomic<std::size_t> head_{0};
  alignas(64) std::atomic<std::size_t> tail_{0};
};

}  // namespace trainyard
