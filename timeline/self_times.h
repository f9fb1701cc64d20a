// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "timeline/timeline.h"

namespace trainyard::timeline {

/// The events of a component by the number of its thread: 0 for the event loop.
using Lanes = std::map<std::uint32_t, std::vector<const Event*>>;

/// How long an event took within a window: altogether, and without the events inside it.
struct SelfTime {
  const Event* event = nullptr;
  std::int64_t self_ns = 0;
  std::int64_t total_ns = 0;
};

/// Returns the times of the events of one thread, in the order of their beginnings. The clocks of two events can differ
/// a little, so an event that ends after the one that it began in is cut there: no moment counts twice.
std::vector<SelfTime> self_times(std::vector<const Event*> events, std::int64_t begin_ns, std::int64_t end_ns);

}  // namespace trainyard::timeline
