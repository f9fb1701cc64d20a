// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "archive/metrics_table.h"
#include "archive/run_record.h"

namespace trainyard::archive {

/// The most important figures of a run, for lists of runs.
struct RunSummary {
  RunRecord run;
  LaunchState state = LaunchState::kUnknown;  ///< The state of the newest launch; kUnknown without a launch record.
  std::int64_t started_ns = 0;                ///< When the newest launch began; 0 if it is unknown.
  std::int64_t duration_ns = 0;          ///< How long the newest launch took, or has taken so far; 0 if it is unknown.
  std::optional<std::uint64_t> step;     ///< The last training step that has metrics.
  std::optional<MetricPoint> last_loss;  ///< The last "loss" of the stage "train".
  std::optional<MetricPoint> best_validation;  ///< The smallest "loss" of the stage "validate".
  std::string problem;  ///< The reason why the metrics could not be read; empty if they could be read.
};

/// Makes the summary of a run. Reads only the end of the training metrics, which can be large, but all validation
/// metrics. `now_ns` is the current time, in nanoseconds since 1970.
RunSummary summarise(RunRecord run, std::int64_t now_ns);

}  // namespace trainyard::archive
