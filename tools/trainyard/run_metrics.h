// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "archive/metrics_table.h"
#include "archive/run_record.h"

namespace trainyard::tools {

/// The last, the smallest and the largest value of one metric of a run. If later launches repeated some steps, only the
/// values of the newest launch are used for these steps.
struct MetricFigures {
  std::string name;  ///< The stage and the name, such as "validate/loss".
  archive::MetricPoint last;
  std::optional<archive::MetricPoint> smallest;  ///< The smallest value and its step; empty if no value is finite.
  std::optional<archive::MetricPoint> largest;
};

/// Reads the metrics that a run has written to its output directory. The result is sorted by stage, with "train" first.
/// Metrics that only count the progress of the run, such as the epoch and the number of tokens, are left out. If
/// metrics cannot be read, the function prints a warning to stderr and returns an empty list, so that other runs can
/// still be shown.
std::vector<MetricFigures> read_figures(const std::string& output_directory);

/// Returns the parameters that the launch file or the command line of a run has set (archive::hyperparameters), as a
/// map from names to values. If the recorded plan cannot be read, the function prints a warning to stderr and returns
/// an empty map.
std::map<std::string, nlohmann::json> read_parameters(const archive::RunRecord& run);

}  // namespace trainyard::tools
