// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "timeline/timeline.h"

namespace trainyard::timeline {

/// The events of a component, by the number of the thread on which they took place; 0 stands for the event loop.
using Lanes = std::map<std::uint32_t, std::vector<const Event*>>;

/// How long an event took within a window: in total, and without the events nested in it.
struct SelfTime {
  const Event* event = nullptr;
  std::int64_t self_ns = 0;
  std::int64_t total_ns = 0;
};

/// Returns the times of the events of one thread within the window from `begin_ns` to `end_ns`, in the order in which
/// the events began. Events outside the window are left out. Because of small inaccuracies of the clock, an event can
/// seem to end after the event in which it is nested. It is then cut off at the end of the enclosing event, so that no
/// time is counted twice.
std::vector<SelfTime> self_times(std::vector<const Event*> events, std::int64_t begin_ns, std::int64_t end_ns);

}  // namespace trainyard::timeline
