// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/activity/published.h"
#include "core/activity/wait_cause.h"

namespace trainyard {
class Component;
}  // namespace trainyard

namespace trainyard::core {

/// How a component has spent its time since the accounting (the measurement of these times) began. All values except
/// `quiet_ns` only grow. Time that is neither busy nor waiting is idle time: the component had nothing to do, and its
/// next work did not come from another component but, for example, from a timer.
struct Totals {
  struct Wait {
    WaitCause cause;
    std::int64_t ns = 0;
  };

  const Component* component = nullptr;
  std::int64_t busy_ns = 0;
  std::uint64_t messages = 0;  ///< The number of messages that the component has handled.
  std::vector<Wait> waiting;   ///< One entry for each cause of waiting.
  /// The time since the component last had something to do, up to the moment of reading; 0 if it is working. This time
  /// is not part of `waiting`, because only the next work will show what the component was waiting for.
  std::int64_t quiet_ns = 0;
};

/// The running totals of one component (Totals). The component's event loop writes them, without allocating memory, and
/// another thread may read them. LoopActivity ensures that a reader sees values that belong to the same moment.
class Account {
 public:
  explicit Account(const Component& component) : component_(&component) {}

  const Component& component() const { return *component_; }
  void add_busy(std::int64_t ns) { busy_.add(ns); }
  void add_message() { messages_.add(1); }
  /// Adds `ns` to the time that the component has waited because of `cause`. If the account has no room for another
  /// cause, the time is added to WaitKind::kOthers.
  void add_wait(WaitCause cause, std::int64_t ns);
  /// Sets all totals to zero. `now` is the time at which the accounting begins, on the clock of LoopActivity::now_ns().
  void reset(std::int64_t now);
  /// Returns the totals. `quiet_ns` remains 0; LoopActivity sets it.
  Totals totals() const;

  /// The time at which the component last finished a piece of work, on the clock of LoopActivity::now_ns(). If it has
  /// finished none yet, this is the time at which the accounting began.
  PublishedNumber<std::int64_t> last_end;
  /// The total time, in nanoseconds, for which the loop had run components when `last_end` was set. Used only by the
  /// loop.
  std::int64_t loop_ran = 0;

 private:
  struct Wait {
    PublishedNumber<std::uint64_t> cause;
    PublishedNumber<std::int64_t> ns;
  };
  static constexpr std::size_t kMostCauses = 64;

  const Component* component_;
  PublishedNumber<std::int64_t> busy_;
  PublishedNumber<std::uint64_t> messages_;
  PublishedNumber<std::uint32_t> causes_;
  std::array<Wait, kMostCauses> waits_;
};

}  // namespace trainyard::core
