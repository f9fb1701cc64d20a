// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace trainyard::core {

/// A number that one thread writes and any thread may read. Numbers that must be read together share one version
/// (Published).
template <class T>
class PublishedNumber {
 public:
  T get() const { return value_.load(std::memory_order_acquire); }
  void set(T value) { value_.store(value, std::memory_order_release); }
  /// Only the writing thread may call this.
  void add(T value) { set(value_.load(std::memory_order_relaxed) + value); }

 private:
  std::atomic<T> value_{};
};

/// A sequence lock for a set of PublishedNumbers that one thread changes and other threads read together. It contains
/// the version of the set, a number that is odd during a change and grows with every change. The writer never waits,
/// and on x86 a change costs a few ordinary stores. Numbers are stored with release order and loaded with acquire
/// order, so a reader that sees a new number also sees that the version has changed.
class Published {
 public:
  /// The scope of one change. Only one thread may make changes, and changes must not be nested.
  class Change {
   public:
    explicit Change(Published& set) : version_(set.version_) {
      version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    ~Change() { version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;

   private:
    std::atomic<std::uint64_t>& version_;
  };

  /// Calls `look`, which reads the numbers, and repeats the call if the numbers changed during it. After kMostLooks
  /// calls the function returns in any case, so a writer that makes changes all the time cannot block a reader. The
  /// numbers that the last call has read may then belong to different changes.
  template <class Look>
  void read(const Look& look) const {
    for (int looks = 0; looks < kMostLooks; ++looks) {
      const std::uint64_t before = version_.load(std::memory_order_acquire);
      look();
      if (before % 2 == 0 && version_.load(std::memory_order_relaxed) == before) return;
      std::this_thread::yield();
    }
  }

 private:
  static constexpr int kMostLooks = 100;

  std::atomic<std::uint64_t> version_{0};
};

}  // namespace trainyard::core
