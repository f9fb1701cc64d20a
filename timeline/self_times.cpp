// SPDX-License-Identifier: Apache-2.0
#include "timeline/self_times.h"

#include <algorithm>
#include <tuple>

namespace trainyard::timeline {

std::vector<SelfTime> self_times(std::vector<const Event*> events, std::int64_t begin_ns, std::int64_t end_ns) {
  // Of events that begin at the same time, the enclosing event comes first.
  std::ranges::stable_sort(events, [](const Event* a, const Event* b) {
    return std::tuple(a->begin_ns, -a->end_ns) < std::tuple(b->begin_ns, -b->end_ns);
  });
  struct Open {
    std::size_t index;
    std::int64_t end_ns;
  };
  std::vector<SelfTime> times;
  std::vector<Open> open;
  for (const Event* event : events) {
    const std::int64_t begin = std::max(event->begin_ns, begin_ns);
    while (!open.empty() && open.back().end_ns <= begin) open.pop_back();
    const std::int64_t end = std::min({event->end_ns, end_ns, open.empty() ? end_ns : open.back().end_ns});
    if (end < begin) continue;
    if (!open.empty()) times[open.back().index].self_ns -= end - begin;
    open.push_back({times.size(), end});
    times.push_back({event, end - begin, end - begin});
  }
  return times;
}

}  // namespace trainyard::timeline
