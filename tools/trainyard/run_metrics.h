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

/// A summary of one metric of a run. Rows that a later launch has repeated do not count.
struct MetricFigures {
  std::string name;  ///< The stage and the name, such as "validate/loss".
  archive::MetricPoint last;
  std::optional<archive::MetricPoint> smallest;  ///< The smallest value, and where it is; empty if no value is finite.
  std::optional<archive::MetricPoint> largest;
};

/// Reads the metrics in an output directory, in the order of the tables. What counts the progress of the run (epoch,
/// tokens) is left out. Metrics that cannot be read are a warning on stderr, because other runs may be shown with this
/// one.
std::vector<MetricFigures> read_figures(const std::string& output_directory);

/// Returns what the launch file and the command line chose (archive::hyperparameters). A plan that cannot be read is a
/// warning on stderr.
std::map<std::string, nlohmann::json> read_parameters(const archive::RunRecord& run);

}  // namespace trainyard::tools
