// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "timeline/timeline.h"

namespace trainyard::timeline {

/// The time of several consecutive steps, measured by the steps of rank 0.
struct StepWindow {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;

  std::uint64_t steps() const { return last - first + 1; }
};

/// Returns the first `steps` consecutive steps in the timeline, or nothing if the timeline does not contain that many
/// yet. Only steps after the step `after` are considered.
std::optional<StepWindow> find_steps(const Timeline& timeline, std::uint64_t steps, std::uint64_t after = 0);

/// An activity of a component and the time that it took. `what` is the text of words_for() without the parts that
/// differ from message to message.
struct ProfilePart {
  std::string what;
  SpanKind kind = SpanKind::kOther;
  std::int64_t ns = 0;
  std::uint64_t count = 0;
};

/// How a component spent the time of the window. Each moment of its event loop counts for the innermost span only, so
/// the parts and `idle_ns` add up to the length of the window.
struct ComponentProfile {
  std::string component;
  std::vector<ProfilePart> parts;  ///< The parts, the longest first.
  std::int64_t idle_ns = 0;
  /// The activities of the component's own threads, divided by the number of threads that were active.
  std::vector<ProfilePart> own_threads;
  std::uint32_t number_of_own_threads = 0;
};

/// The messages of one type that one component has sent to another.
struct HopProfile {
  std::string from, to, type;
  std::uint64_t count = 0;
  std::int64_t mean_ns = 0;
  std::int64_t max_ns = 0;
};

/// An operation of LibTorch. `self_ns` is the time without the operations that it has called.
struct OperationProfile {
  std::string name;
  std::uint64_t count = 0;
  std::int64_t self_ns = 0;
  std::int64_t total_ns = 0;
};

struct Profile {
  StepWindow window;
  std::vector<ComponentProfile> components;  ///< The components, in alphabetical order.
  std::vector<HopProfile> hops;              ///< The pairs of components, those with the longest total time first.
  std::vector<OperationProfile> operations;  ///< The operations, those with the longest `self_ns` first.
};

/// Returns how the time of the window was spent.
Profile profile_of(const Timeline& timeline, const StepWindow& window);

}  // namespace trainyard::timeline
