// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "archive/metrics_table.h"
#include "archive/run_record.h"

namespace trainyard::archive {

/// A run in a few figures, for lists.
struct RunSummary {
  RunRecord run;
  LaunchState state = LaunchState::kUnknown;   ///< Of the newest launch; kUnknown for a run without a record.
  std::int64_t started_ns = 0;                 ///< When the newest launch began; 0 if it is unknown.
  std::int64_t duration_ns = 0;                ///< How long it took, or has taken so far; 0 if it is unknown.
  std::optional<std::uint64_t> step;           ///< The last step of which there are metrics.
  std::optional<MetricPoint> last_loss;        ///< The last "loss" of the stage "train".
  std::optional<MetricPoint> best_validation;  ///< The smallest "loss" of the stage "validate".
  std::string problem;                         ///< Why the metrics could not be read; empty if they could.
};

/// Reads what the summary needs: the end of the table of training, and the whole table of validation. `now_ns` is the
/// time, in nanoseconds since 1970.
RunSummary summarise(RunRecord run, std::int64_t now_ns);

}  // namespace trainyard::archive
