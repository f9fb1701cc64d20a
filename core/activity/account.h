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

/// The time of one component since the accounting began, in nanoseconds, divided by what the component did. The totals
/// only grow. Time that is neither `busy` nor `waiting` is idle time: something that no other component caused ended
/// it, such as a timer.
struct Totals {
  struct Wait {
    WaitCause cause;
    std::int64_t ns = 0;
  };

  const Component* component = nullptr;
  std::int64_t busy_ns = 0;
  std::uint64_t messages = 0;  ///< The number of messages that the component has handled.
  std::vector<Wait> waiting;   ///< One entry for each cause for which the component has waited.
  /// How long the component has had nothing to do until now. The cause is known only when something ends this interval,
  /// so the interval is not part of `waiting` yet.
  std::int64_t quiet_ns = 0;
};

/// The totals of one component. Its event loop writes them, and the control thread reads them. Writing allocates
/// nothing. LoopActivity ensures that a reader sees totals that belong to the same moment.
class Account {
 public:
  explicit Account(const Component& component) : component_(&component) {}

  const Component& component() const { return *component_; }
  void add_busy(std::int64_t ns) { busy_.add(ns); }
  void add_message() { messages_.add(1); }
  /// Adds `ns` nanoseconds to the waiting time of a cause. An account has room for a limited number of causes; the time
  /// of any further cause is added to kOthers.
  void add_wait(WaitCause cause, std::int64_t ns);
  /// Sets all totals to zero, for an accounting that begins at `now`, a time of the loop's clock.
  void reset(std::int64_t now);
  /// Returns the totals. `quiet_ns` is not filled in.
  Totals totals() const;

  /// When the component last finished doing something, by the loop's clock.
  PublishedNumber<std::int64_t> last_end;
  /// The total time for which the loop had run any of its components at the moment `last_end`. Only the loop uses this
  /// number.
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
