// SPDX-License-Identifier: Apache-2.0
#include "timeline/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>

#include "timeline/batch_path.h"
#include "timeline/self_times.h"

namespace trainyard::timeline {
namespace {

using Parts = std::map<std::string, ProfilePart>;

/// Returns the name under which an event counts. The time of a handler that belongs to no nested span counts as "other
/// work", whatever message it handles.
std::string what_of(const Event& event) { return event.kind == SpanKind::kHandler ? "other work" : words_for(event); }

void add(Parts& parts, const SelfTime& time) {
  const std::string what = what_of(*time.event);
  ProfilePart& part = parts[what];
  part.what = what;
  part.kind = time.event->kind;
  part.ns += time.self_ns;
  ++part.count;
}

std::vector<ProfilePart> sorted(const Parts& parts) {
  std::vector<ProfilePart> list;
  for (const auto& [what, part] : parts) list.push_back(part);
  std::ranges::stable_sort(list, std::ranges::greater(), &ProfilePart::ns);
  return list;
}

ComponentProfile profile_of(std::string_view name, const Lanes& lanes, const StepWindow& window) {
  ComponentProfile profile{.component = std::string(name), .parts = {}, .own_threads = {}};
  Parts parts, own;
  profile.idle_ns = window.end_ns - window.begin_ns;
  for (const auto& [thread, events] : lanes) {
    if (thread != 0) ++profile.number_of_own_threads;
    for (const SelfTime& time : self_times(events, window.begin_ns, window.end_ns)) {
      add(thread == 0 ? parts : own, time);
      if (thread == 0) profile.idle_ns -= time.self_ns;
    }
  }
  profile.parts = sorted(parts);
  profile.own_threads = sorted(own);
  for (ProfilePart& part : profile.own_threads) part.ns /= profile.number_of_own_threads;
  return profile;
}

bool is_in(const Event& event, const StepWindow& window) {
  return event.end_ns > window.begin_ns && event.begin_ns < window.end_ns;
}

std::vector<HopProfile> hops_of(const Timeline& timeline, const StepWindow& window) {
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, HopProfile> hops;
  for (const Event& event : timeline.events()) {
    if (event.kind != SpanKind::kHop || event.peer.empty() || !is_in(event, window)) continue;
    HopProfile& hop = hops[{event.peer, event.component, event.name}];
    ++hop.count;
    hop.mean_ns += event.length_ns();
    hop.max_ns = std::max(hop.max_ns, event.length_ns());
  }
  std::vector<HopProfile> list;
  for (auto& [key, hop] : hops) {
    std::tie(hop.from, hop.to, hop.type) = key;
    list.push_back(hop);
  }
  // At this point, mean_ns still contains the sum.
  std::ranges::stable_sort(list, std::ranges::greater(), &HopProfile::mean_ns);
  for (HopProfile& hop : list) hop.mean_ns /= static_cast<std::int64_t>(hop.count);
  return list;
}

std::vector<OperationProfile> operations_of(const std::map<std::string_view, Lanes>& components,
                                            const StepWindow& window) {
  std::map<std::string_view, OperationProfile> operations;
  for (const auto& [component, lanes] : components) {
    for (const auto& [thread, events] : lanes) {
      for (const SelfTime& time : self_times(events, window.begin_ns, window.end_ns)) {
        OperationProfile& operation = operations[time.event->name];
        ++operation.count;
        operation.self_ns += time.self_ns;
        operation.total_ns += time.total_ns;
      }
    }
  }
  std::vector<OperationProfile> list;
  for (auto& [name, operation] : operations) {
    operation.name = name;
    list.push_back(operation);
  }
  std::ranges::stable_sort(list, std::ranges::greater(), &OperationProfile::self_ns);
  return list;
}

}  // namespace

std::optional<StepWindow> find_steps(const Timeline& timeline, std::uint64_t steps, std::uint64_t after) {
  std::optional<StepWindow> window;
  for (auto next = timeline.steps().upper_bound(after); next != timeline.steps().end(); ++next) {
    const auto& [step, event] = *next;
    if (!window || step != window->last + 1)
      window = StepWindow{.first = step, .last = step, .begin_ns = event.begin_ns};
    window->last = step;
    window->end_ns = event.end_ns;
    if (window->steps() == steps) return window;
  }
  return {};
}

Profile profile_of(const Timeline& timeline, const StepWindow& window) {
  std::map<std::string_view, Lanes> work, operations;
  for (const Event& event : timeline.events()) {
    if (event.kind == SpanKind::kHop || event.kind == SpanKind::kStep || !is_in(event, window)) continue;
    auto& lanes = event.kind == SpanKind::kOperation ? operations : work;
    lanes[event.component][event.own_thread].push_back(&event);
  }
  Profile profile{.window = window,
                  .components = {},
                  .hops = hops_of(timeline, window),
                  .operations = operations_of(operations, window)};
  for (const auto& [component, lanes] : work) profile.components.push_back(profile_of(component, lanes, window));
  return profile;
}

}  // namespace trainyard::timeline
