// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

namespace trainyard::core {

/// A bounded queue from one thread to another, without locks and without allocation after construction.
///
/// The counters `head` and `tail` only grow, and wrap around by unsigned arithmetic. Each counter is written by one
/// side only and is on a separate cache line. The release store of a counter pairs with the acquire load on the other
/// side: a thread that sees the new counter also sees the new content of the slot.
template <class T>
class SpscRing {
 public:
  /// Makes a ring for at least `capacity` values. The size is rounded up to a power of two, so that a mask yields the
  /// index.
  explicit SpscRing(std::size_t capacity) : slots_(std::bit_ceil(capacity)), mask_(slots_.size() - 1) {}

  /// Adds a value. Returns false if the ring is full; the value is then unchanged. Only the producer may call this.
  bool push(T&& value) {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_.load(std::memory_order_acquire) > mask_) return false;
    slots_[tail & mask_] = std::move(value);
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }

  /// Removes the oldest value. Returns false if the ring is empty. Only the consumer may call this.
  bool pop(T& value) {
    const std::size_t head = head_.load(std::memory_order_relaxed);
    if (head == tail_.load(std::memory_order_acquire)) return false;
    // The slot must not keep a copy of the value, because it would keep the value's buffers alive.
    value = std::exchange(slots_[head & mask_], T{});
    head_.store(head + 1, std::memory_order_release);
    return true;
  }

  /// Returns true if the ring is empty. Both threads may call this. The consumer can rely on false, and the producer on
  /// true; any other result may already be outdated.
  bool empty() const { return head_.load(std::memory_order_acquire) == tail_.load(std::memory_order_acquire); }

 private:
  std::vector<T> slots_;
  std::size_t mask_;
  alignas(64) std::atomic<std::size_t> head_{0};
  alignas(64) std::atomic<std::size_t> tail_{0};
};

}  // namespace trainyard::core
