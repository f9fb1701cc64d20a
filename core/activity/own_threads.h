// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/activity/published.h"

namespace trainyard {
class Component;
}  // namespace trainyard

namespace trainyard::core {

class LoopActivity;

/// Measures the busy time of threads that a component uses in addition to its event loop. The mean of their busy times
/// is added to the component's busy time. So a component whose threads are all busy all the time counts as always busy:
/// it cannot work any faster.
///
///    core::OwnThreads threads_{loop().activity(), *this, 4};
///    ...
///    const core::OwnThreads::Busy busy(&threads_, number);  // On thread `number`, while it has work.
class OwnThreads {
 public:
  /// `activity` belongs to the component's event loop. `threads` is the number of threads, which are numbered from 0.
  /// Call this on the event loop, before the threads start.
  OwnThreads(LoopActivity& activity, const Component& component, std::size_t threads);
  /// Call this on the component's event loop, after the threads have ended.
  ~OwnThreads();
  OwnThreads(const OwnThreads&) = delete;
  OwnThreads& operator=(const OwnThreads&) = delete;

  /// Returns true while spans (records of what components do, and when) are recorded. Only then does the component need
  /// to measure when its threads begin and end their work, for add_span(). Any thread may call this.
  bool recorded() const;

 private:
  // On separate cache lines, because each object is written by a different thread.
  struct alignas(64) Thread {
    Published published;
    PublishedNumber<std::uint64_t> epoch;  // The number of the accounting (LoopActivity::Epoch) to which `ns` belongs.
    PublishedNumber<std::int64_t> ns;
    // When the current work began; 0 if the thread does not work, kUnknown if the beginning was not measured.
    PublishedNumber<std::int64_t> since;
  };

 public:
  /// Marks the time in which one of the threads works. `thread` is the number of this thread. If `owner` is null, the
  /// scope has no effect.
  class Busy {
   public:
    Busy(OwnThreads* owner, std::size_t thread);
    ~Busy();
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

   private:
    OwnThreads* owner_;
    Thread* thread_ = nullptr;
  };

 private:
  friend class LoopActivity;

  // Returns the mean time that the threads were busy since the accounting began.
  std::int64_t busy_ns(std::int64_t now) const;

  LoopActivity& activity_;
  const Component& component_;
  std::vector<Thread> threads_;
};

}  // namespace trainyard::core
