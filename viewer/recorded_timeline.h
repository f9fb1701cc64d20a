// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>

#include "timeline/timeline.h"
#include "visitors/run_info.h"

namespace trainyard::viewer {

/// The maximum number of spans (records of what components did, and when) in an answer. If there are more, the newest
/// are kept.
inline constexpr std::size_t kMostSpansOfAnswer = 50'000;

/// Records the spans of a running launch (what its components do and wait for) for the time `length`, and returns them
/// in the form that docs/viewer_protocol.md describes. Throws kUnsupported if the run does not publish spans, and
/// kTimeout if the launcher does not answer.
nlohmann::json record_timeline(const visitors::RunInfo& run, std::chrono::milliseconds length);

/// Returns the events of a timeline in the form that docs/viewer_protocol.md describes.
nlohmann::json json_of(const timeline::Timeline& timeline);

}  // namespace trainyard::viewer
