// SPDX-License-Identifier: Apache-2.0
#include "viewer/past_run.h"

#include <filesystem>
#include <functional>

#include "archive/followed_file.h"
#include "archive/metrics_reader.h"
#include "archive/output_files.h"
#include "core/config/bounded_json.h"
#include "messages/error.h"
#include "viewer/clock.h"
#include "viewer/past_alerts.h"
#include "viewer/recorded_run.h"
#include "viewer/run_file.h"

namespace trainyard::viewer {
namespace {

using archive::LaunchState;
using archive::MetricsTable;
using nlohmann::json;

constexpr std::size_t kPastSliceBytes = 4u << 20;
constexpr std::size_t kMostChangeBytes = 64u << 10;

RunPhase phase_of(LaunchState state) {
  switch (state) {
    case LaunchState::kRunning:
      return RunPhase::kRunning;
    case LaunchState::kEnded:
      return RunPhase::kEnded;
    case LaunchState::kFailed:
      return RunPhase::kFailed;
    case LaunchState::kInterrupted:
      return RunPhase::kInterrupted;
    case LaunchState::kKilled:
      return RunPhase::kKilled;
    case LaunchState::kUnknown:
      break;
  }
  return RunPhase::kUnknown;
}

/// Enters the rows of a table into the book, and calls `see` for each row.
void enter_table(const MetricsTable& table, Book& book, const std::function<void(const Metrics&)>& see) {
  std::vector<std::size_t> next(table.series.size(), 0);
  for (std::size_t row = 0; row < table.rows(); ++row) {
    Metrics metrics{
        .step = table.steps[row], .stage = table.stage, .time_ns = table.times_ns[row], .samples = table.samples[row]};
    for (std::size_t i = 0; i < table.series.size(); ++i) {
      const archive::Series& series = table.series[i];
      if (next[i] < series.rows.size() && series.rows[next[i]] == row) {
        metrics.values.push_back({series.name, series.values[next[i]++]});
      }
    }
    if (book.add(metrics)) see(metrics);
  }
}

// Reads metrics.jsonl or, if it does not exist, the CSV files, because the user can turn off each kind of file. Only
// metrics.jsonl also contains log records and predictions.
void read_metrics(const std::string& directory, Book& book, const std::stop_token& stop) {
  PastAlerts alerts(book);
  const auto see = [&](const Metrics& metrics) { alerts.see(metrics); };
  std::error_code none;
  if (std::filesystem::is_regular_file(directory + "/metrics.jsonl", none)) {
    RunFile file(directory + "/metrics.jsonl");
    while (!stop.stop_requested() && file.read(kPastSliceBytes, book, see)) {
    }
  } else {
    archive::MetricsReader reader(directory);
    reader.update();
    for (const MetricsTable* table : reader.tables()) enter_table(*table, book, see);
  }
  book.drop_repeated_steps();
}

void read_insights(const std::string& directory, Book& book, const std::stop_token& stop) {
  RunFile file(directory + "/insights.jsonl");
  while (!stop.stop_requested() && file.read(kPastSliceBytes, book)) {
  }
}

void read_changes(const std::string& directory, Book& book) {
  std::error_code none;
  if (!std::filesystem::exists(directory + "/changes.jsonl", none)) return;
  archive::FollowedFile file(directory + "/changes.jsonl", kMostChangeBytes);
  file.look();
  file.read_lines([&](std::string_view line) {
    const std::optional<json> change = parse_bounded_json(line);
    try {
      if (change) book.add(change_of(*change));
    } catch (const json::exception&) {
      // The line is malformed and is left out.
    }
    return true;
  });
}

void say(Book& book, const std::string& problem) {
  book.add(LogRecord{now_ns(), LogLevel::kWarning, "viewer", problem});
}

/// Returns the recording of the run in its output directory, or an empty optional if there is none.
std::optional<RecordedRun> recording_of(const Identity& identity, Book& book) {
  for (const std::string& path : recordings_in(identity.directory)) {
    std::optional<RecordedRun> recorded;
    read_or_say(book, [&] { recorded.emplace(path); });
    if (recorded && recorded->identity().run == identity.run) return recorded;
  }
  return {};
}

bool has_metrics(const std::string& directory) { return !archive::metrics_files(directory, 1).empty(); }

}  // namespace

Ending ending_of(const archive::RunRecord& record) {
  const archive::LaunchRecord* launch = record.last();
  if (launch == nullptr) return {RunPhase::kUnknown, "the run has kept no record of how it ended"};
  const LaunchState state = archive::state_now(*launch);
  if (state == LaunchState::kRunning) {
    return {RunPhase::kRunning, "the run goes on, and this is what it had written when it was opened"};
  }
  if (state == LaunchState::kKilled) return {RunPhase::kKilled, "the launcher was killed"};
  if (state == LaunchState::kUnknown) {
    return {RunPhase::kUnknown,
            "no end was recorded, and the launcher was started on the host " + launch->launcher.host};
  }
  return {phase_of(state), launch->reason};
}

std::optional<archive::RunRecord> record_of_launch(const std::string& output_directory, const std::string& run) {
  if (output_directory.empty() || !archive::is_output_directory(output_directory)) return {};
  archive::RunRecord record = archive::read_run(output_directory);
  if (record.last() == nullptr || record.last()->run != run) return {};
  return record;
}

json hyperparameters_of(const archive::RunRecord& record) {
  json map = json::object();
  for (auto& [name, value] : archive::hyperparameters(record)) map[name] = value;
  return map;
}

void enter_record(const archive::RunRecord& record, Book& book) {
  const Ending ending = ending_of(record);
  book.set_phase(ending.phase, ending.message);
  for (const std::string& problem : record.unreadable) say(book, problem);
  read_or_say(book, [&] { book.set_hyperparameters(hyperparameters_of(record)); });
}

void read_output_directory(const Identity& identity, Book& book, const std::stop_token& stop) {
  const std::optional<RecordedRun> recorded = recording_of(identity, book);
  if (recorded) book.set_graph(recorded->graph());
  read_or_say(book, [&] {
    if (recorded && !has_metrics(identity.directory)) return recorded->read(book, stop);
    read_metrics(identity.directory, book, stop);
  });
  read_or_say(book, [&] { read_insights(identity.directory, book, stop); });
  read_or_say(book, [&] { read_changes(identity.directory, book); });
}

void read_or_say(Book& book, const std::function<void()>& read) {
  try {
    read();
  } catch (const Error& error) {
    say(book, error.what());
  }
}

}  // namespace trainyard::viewer
