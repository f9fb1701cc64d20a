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

/// How a component has spent its time since the accounting began, in nanoseconds. The totals only grow. Time that is
/// neither `busy` nor `waiting` is idle: it was ended by something that no other component caused, such as a timer.
struct Totals {
  struct Wait {
    WaitCause cause;
    std::int64_t ns = 0;
  };

  const Component* component = nullptr;
  std::int64_t busy_ns = 0;
  std::uint64_t messages = 0;  ///< The number of messages that the component has handled.
  std::vector<Wait> waiting;   ///< One entry for each cause.
  /// How long the component has had nothing to do now. Who will end this interval is not known yet, so it is not part
  /// of `waiting`.
  std::int64_t quiet_ns = 0;
};

/// The account of one component, in which its event loop writes and from which the control thread reads. Writing
/// allocates nothing. LoopActivity ensures that a reader sees the numbers of one moment.
class Account {
 public:
  explicit Account(const Component& component) : component_(&component) {}

  const Component& component() const { return *component_; }
  void add_busy(std::int64_t ns) { busy_.add(ns); }
  void add_message() { messages_.add(1); }
  /// Adds to the time of a cause. When there is no room for another cause, the time is added to kOthers.
  void add_wait(WaitCause cause, std::int64_t ns);
  /// Sets all totals to zero, for accounting that begins at `now`.
  void reset(std::int64_t now);
  /// Returns the totals, without `quiet_ns`.
  Totals totals() const;

  /// When the component last had something to do, in the time of the loop's clock.
  PublishedNumber<std::int64_t> last_end;
  /// For how long the loop had run components altogether at `last_end`. Used only by the loop.
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
