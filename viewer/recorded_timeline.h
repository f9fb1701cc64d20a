// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>

#include "timeline/timeline.h"
#include "visitors/run_info.h"

namespace trainyard::viewer {

/// The maximum number of spans that record_timeline() returns; if there are more, the newest are kept. A span is a
/// record of something that a component did or waited for, with its times.
inline constexpr std::size_t kMostSpansOfAnswer = 50'000;

/// Records the spans of a running launch for the duration `length`, and returns them in the form that
/// docs/viewer_protocol.md describes. Throws kNotFound if the run does not publish spans, kUnsupported if they come
/// from another version of Trainyard, and kTimeout if the launcher does not answer.
nlohmann::json record_timeline(const visitors::RunInfo& run, std::chrono::milliseconds length);

/// Returns the events of a timeline in the form that docs/viewer_protocol.md describes.
nlohmann::json json_of(const timeline::Timeline& timeline);

}  // namespace trainyard::viewer
