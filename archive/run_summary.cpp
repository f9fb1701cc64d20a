// SPDX-License-Identifier: Apache-2.0
#include "archive/run_summary.h"

#include <algorithm>
#include <filesystem>

#include "archive/metrics_reader.h"
#include "archive/output_files.h"
#include "messages/error.h"

namespace trainyard::archive {

namespace {

/// The number of bytes that are read from the end of the training metrics: some hundred rows, of which at least one
/// should have a loss.
constexpr std::uint64_t kTailBytes = 256 << 10;

void add_metrics(const MetricsTable& table, RunSummary& summary) {
  if (table.stage != "train" && table.stage != "validate") return;
  const Series* loss = table.find("loss");
  if (table.stage == "train") {
    if (table.rows() > 0) summary.step = table.steps.back();
    if (loss != nullptr) summary.last_loss = last_point(table, *loss);
  } else if (loss != nullptr) {
    summary.best_validation = best_point(table, *loss, Wanted::kSmallest);
  }
}

/// Returns the time of the last metrics. It shows how long a launch was alive if its record contains no end.
std::int64_t last_sign(const MetricsReader& reader) {
  std::int64_t last = 0;
  for (const MetricsTable* table : reader.tables()) {
    if (table->rows() > 0) last = std::max(last, table->times_ns.back());
  }
  return last;
}

/// Adds the metrics of one file to the summary, and returns the time of the last metrics. Of training metrics, only the
/// end of the file is read.
std::int64_t read_file(const std::string& path, RunSummary& summary) {
  MetricsLimits limits;
  if (std::filesystem::path(path).filename() == "metrics_train.csv") limits.tail_bytes = kTailBytes;
  MetricsReader reader(path, limits);
  reader.update();
  for (const MetricsTable* table : reader.tables()) add_metrics(*table, summary);
  return last_sign(reader);
}

}  // namespace

RunSummary summarise(RunRecord run, std::int64_t now_ns) {
  RunSummary summary;
  summary.run = std::move(run);
  std::int64_t last = 0;
  try {
    for (const std::string& file : metrics_files(summary.run.directory, MetricsLimits().tables)) {
      last = std::max(last, read_file(file, summary));
    }
  } catch (const Error& error) {
    summary.problem = error.what();
  }
  if (const LaunchRecord* launch = summary.run.last(); launch != nullptr) {
    summary.state = state_now(*launch);
    summary.started_ns = launch->started_ns;
    const bool goes_on = summary.state == LaunchState::kRunning;
    const std::int64_t end = launch->ended_ns != 0 ? launch->ended_ns : goes_on ? now_ns : last;
    summary.duration_ns = std::max<std::int64_t>(end - launch->started_ns, 0);
  }
  return summary;
}

}  // namespace trainyard::archive
