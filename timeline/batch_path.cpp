// SPDX-License-Identifier: Apache-2.0
#include "timeline/batch_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace trainyard::timeline {
namespace {

bool is_on_path(const Event& event) {
  if (event.kind == SpanKind::kStep) return false;
  return event.kind != SpanKind::kWait || event.name != "message";
}

/// Identifies a thread by its component and its number. Only events on the same thread can enclose each other.
using Lane = std::tuple<std::string_view, std::uint32_t>;

std::size_t depth_of(const Event& event, std::map<Lane, std::vector<std::int64_t>>& open) {
  if (event.kind == SpanKind::kHop) return 0;
  std::vector<std::int64_t>& ends = open[{event.component, event.own_thread}];
  // An event that ends earlier than this event does not enclose it.
  while (!ends.empty() && (ends.back() <= event.begin_ns || ends.back() < event.end_ns)) ends.pop_back();
  const std::size_t depth = ends.size();
  ends.push_back(event.end_ns);
  return depth;
}

std::string words_for_wait(const Event& event) {
  if (event.name == "thread") return "waits for its thread";
  if (event.name == "room") return fmt::format("waits for room at {}", event.peer);
  if (event.name == "ranks") return "waits for other ranks";
  if (event.name == "device") return "waits for the device";
  if (event.name == "others") return "waits";
  return fmt::format("waits for {}", event.peer);
}

}  // namespace

BatchPath path_of(const Timeline& timeline, std::uint64_t trace) {
  BatchPath path{.trace = trace, .step = timeline.step_of(trace), .lines = {}};
  for (const Event& event : timeline.events()) {
    if (event.trace == trace && is_on_path(event)) path.lines.push_back({event});
  }
  // Of events that begin at the same time, the enclosing event comes first.
  std::ranges::stable_sort(path.lines, [](const PathLine& a, const PathLine& b) {
    return std::tuple(a.event.begin_ns, -a.event.end_ns) < std::tuple(b.event.begin_ns, -b.event.end_ns);
  });
  std::map<Lane, std::vector<std::int64_t>> open;
  for (PathLine& line : path.lines) line.depth = depth_of(line.event, open);
  if (path.lines.empty()) return path;
  path.begin_ns = path.lines.front().event.begin_ns;
  for (const PathLine& line : path.lines) path.end_ns = std::max(path.end_ns, line.event.end_ns);
  return path;
}

std::string words_for(const Event& event) {
  switch (event.kind) {
    case SpanKind::kWait:
      return words_for_wait(event);
    case SpanKind::kHop:
      return event.peer.empty() ? fmt::format("{} arrives", event.name)
                                : fmt::format("{} from {}", event.name, event.peer);
    case SpanKind::kHandler:
      return event.name == "task" ? "a task" : fmt::format("handles {}", event.name);
    default:
      return std::string(event.name);
  }
}

}  // namespace trainyard::timeline
