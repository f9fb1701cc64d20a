// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/plot_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "archive/run_record.h"
#include "tools/trainyard/past_runs.h"

namespace trainyard::tools {

namespace fs = std::filesystem;

PlotSource::PlotSource(const std::string& word, const std::string& folder) : name_(word) {
  std::error_code none;
  if (fs::exists(word, none) && !fs::is_directory(word, none)) {
    reader_ = std::make_unique<archive::MetricsReader>(word);
    return;
  }
  const archive::RunRecord run = find_past_run(word, folder);
  name_ = run.name;
  directory_ = run.directory;
  reader_ = std::make_unique<archive::MetricsReader>(directory_);
}

bool PlotSource::goes_on() const {
  if (directory_.empty()) return false;
  const archive::RunRecord run = archive::read_run(directory_);
  return run.last() != nullptr && archive::state_now(*run.last()) == archive::LaunchState::kRunning;
}

// Returns the time of the first row in any stage, so that all stages of a run have the same time axis.
std::int64_t PlotSource::origin_ns() const {
  std::int64_t origin = std::numeric_limits<std::int64_t>::max();
  for (const archive::MetricsTable* table : reader_->tables()) {
    const std::vector<bool> in_effect = archive::rows_in_effect(*table);
    const auto first = std::ranges::find(in_effect, true);
    if (first != in_effect.end()) {
      origin = std::min(origin, table->times_ns[static_cast<std::size_t>(first - in_effect.begin())]);
    }
  }
  return origin;
}

std::vector<Curve> PlotSource::curves(const std::string& metric, PlotAxis axis) const {
  std::vector<Curve> found;
  const std::int64_t origin = origin_ns();
  for (const archive::MetricsTable* table : reader_->tables()) {
    for (const archive::Series& series : table->series) {
      if (metric != series.name && metric != table->stage + "/" + series.name) continue;
      found.push_back(curve_of(*table, series, axis, origin));
    }
  }
  return found;
}

std::string PlotSource::damage() const {
  for (const archive::MetricsTable* table : reader_->tables()) {
    if (table->truncated) {
      return fmt::format("{}: {}: only the first {} rows are read", name_, table->stage, table->rows());
    }
    if (table->damaged_lines > 0) {
      return fmt::format("{}: {}: {} damaged line(s) are left out", name_, table->stage, table->damaged_lines);
    }
  }
  return "";
}

std::vector<std::string> PlotSource::metrics() const {
  std::vector<std::string> names;
  for (const archive::MetricsTable* table : reader_->tables()) {
    for (const archive::Series& series : table->series) names.push_back(table->stage + "/" + series.name);
  }
  return names;
}

}  // namespace trainyard::tools
