// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/run_metrics.h"

#include <cstdio>

#include "archive/metrics_reader.h"
#include "messages/error.h"
#include "messages/printable.h"

namespace trainyard::tools {
namespace {

void warn(const Error& error) { std::fprintf(stderr, "warning: %s\n", printable_line(error.what()).c_str()); }

std::vector<MetricFigures> figures_of(const archive::MetricsReader& reader) {
  std::vector<MetricFigures> all;
  for (const archive::MetricsTable* table : reader.tables()) {
    for (const archive::Series& series : table->series) {
      const auto last = archive::last_point(*table, series);
      if (!last || series.name == "epoch" || series.name == "tokens") continue;
      all.push_back({table->stage + "/" + series.name, *last,
                     archive::best_point(*table, series, archive::Wanted::kSmallest),
                     archive::best_point(*table, series, archive::Wanted::kLargest)});
    }
  }
  return all;
}

}  // namespace

std::vector<MetricFigures> read_figures(const std::string& output_directory) {
  try {
    archive::MetricsReader reader(output_directory);
    reader.update();
    return figures_of(reader);
  } catch (const Error& error) {
    warn(error);
    return {};
  }
}

std::map<std::string, nlohmann::json> read_parameters(const archive::RunRecord& run) {
  try {
    return archive::hyperparameters(run);
  } catch (const Error& error) {
    warn(error);
    return {};
  }
}

}  // namespace trainyard::tools
