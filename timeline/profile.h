// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "timeline/timeline.h"

namespace trainyard::timeline {

/// A sequence of consecutive steps, and the time that they took on rank 0.
struct StepWindow {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;

  std::uint64_t steps() const { return last - first + 1; }
};

/// Returns the first `steps` consecutive steps that the timeline contains, or an empty optional if there are not that
/// many yet. The step `after` and all steps before it are ignored.
std::optional<StepWindow> find_steps(const Timeline& timeline, std::uint64_t steps, std::uint64_t after = 0);

/// One kind of activity of a component, with its total time and the number of times it happened. `what` is the
/// description that words_for() returns, except that all handlers count together as "other work".
struct ProfilePart {
  std::string what;
  SpanKind kind = SpanKind::kOther;
  std::int64_t ns = 0;
  std::uint64_t count = 0;
};

/// How a component spent its time in a window (StepWindow). Spans, the activities of a component, can be nested. Each
/// moment of the component's event loop counts only for the innermost span at that moment, so that the parts and
/// `idle_ns` add up to the length of the window.
struct ComponentProfile {
  std::string component;
  std::vector<ProfilePart> parts;  ///< The parts, the longest first.
  std::int64_t idle_ns = 0;
  /// The activities on the component's own threads, that is, the threads that it has started itself. The times are
  /// averages over the threads that did anything.
  std::vector<ProfilePart> own_threads;
  std::uint32_t number_of_own_threads = 0;
};

/// The messages of one type that one component has sent to another, and how long they were in flight (SpanKind::kHop).
struct HopProfile {
  std::string from, to, type;
  std::uint64_t count = 0;
  std::int64_t mean_ns = 0;
  std::int64_t max_ns = 0;
};

/// An operation of LibTorch. `self_ns` is its time without the operations that it has called; `total_ns` includes them.
struct OperationProfile {
  std::string name;
  std::uint64_t count = 0;
  std::int64_t self_ns = 0;
  std::int64_t total_ns = 0;
};

struct Profile {
  StepWindow window;
  std::vector<ComponentProfile> components;  ///< The components, in alphabetical order.
  std::vector<HopProfile> hops;              ///< Sorted by total time, the longest first.
  std::vector<OperationProfile> operations;  ///< Sorted by `self_ns`, the longest first.
};

/// Returns the profile of the window: how the components spent their time, which messages they sent to each other, and
/// which operations of LibTorch they ran.
Profile profile_of(const Timeline& timeline, const StepWindow& window);

}  // namespace trainyard::timeline
