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

/// A few figures about one metric of a run. They consider only rows that no later launch has repeated.
struct MetricFigures {
  std::string name;  ///< The stage and the name, such as "validate/loss".
  archive::MetricPoint last;
  std::optional<archive::MetricPoint> smallest;  ///< The smallest value, and where it is; empty if no value is finite.
  std::optional<archive::MetricPoint> largest;
};

/// Reads the metrics in an output directory, in the order of the tables. Metrics that only count the progress of the
/// run, such as the epoch and the tokens, are left out. If metrics cannot be read, the function prints a warning to
/// stderr and does not throw, so that other runs can still be shown.
std::vector<MetricFigures> read_figures(const std::string& output_directory);

/// Returns the values that the launch file and the command line set (archive::hyperparameters). If the plan cannot be
/// read, the function prints a warning to stderr and does not throw.
std::map<std::string, nlohmann::json> read_parameters(const archive::RunRecord& run);

}  // namespace trainyard::tools
