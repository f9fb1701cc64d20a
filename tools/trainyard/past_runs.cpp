// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/past_runs.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <filesystem>

#include "messages/error.h"
#include "messages/nearest.h"

namespace trainyard::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSecond = 1'000'000'000;

/// Returns the names with which a user can refer to these runs, for suggestions.
std::vector<std::string> names_of(const std::vector<archive::RunRecord>& runs) {
  std::vector<std::string> names;
  for (const archive::RunRecord& run : runs) names.push_back(run.name);
  return names;
}

}  // namespace

std::vector<archive::RunRecord> find_past_runs(const std::vector<std::string>& folders) {
  std::vector<archive::RunRecord> all;
  for (const std::string& folder : folders) {
    for (archive::RunRecord& run : archive::find_runs(folder)) {
      // If there are several folders, the name alone would be ambiguous.
      if (folders.size() > 1) run.name = run.directory;
      all.push_back(std::move(run));
    }
  }
  return all;
}

archive::RunRecord find_past_run(const std::string& word, const std::string& folder) {
  if (archive::is_output_directory(word)) return archive::read_run(word);
  const fs::path below = fs::path(folder) / word;
  if (archive::is_output_directory(below)) {
    archive::RunRecord run = archive::read_run(below);
    run.name = word;
    return run;
  }
  std::error_code none;
  std::vector<archive::RunRecord> runs;
  if (fs::is_directory(folder, none)) runs = archive::find_runs(folder);
  for (archive::RunRecord& run : runs) {
    for (const archive::LaunchRecord& launch : run.launches) {
      if (launch.run == word) return std::move(run);
    }
  }
  throw Error(Code::kNotFound, "no run '{}': it is neither the output directory of a run nor a run in the folder {}{}",
              word, folder, suggestion(word, names_of(runs)));
}

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string time_text(std::int64_t time_ns) {
  if (time_ns <= 0) return "-";
  const std::time_t seconds = time_ns / kSecond;
  std::tm local = {};
  if (::localtime_r(&seconds, &local) == nullptr) return "-";
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", local);
}

std::string duration_text(std::int64_t duration_ns) {
  if (duration_ns <= 0) return "-";
  const std::int64_t total = duration_ns / kSecond;
  if (total < 60) return fmt::format("{:.1f} s", static_cast<double>(duration_ns / 1'000'000) / 1000);
  const std::int64_t days = total / 86400, hours = total / 3600 % 24, minutes = total / 60 % 60;
  if (days > 0) return fmt::format("{}d {:02}:{:02}", days, hours, minutes);
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, total % 60);
  return fmt::format("{:02}:{:02}", minutes, total % 60);
}

std::string value_text(double value) { return fmt::format("{:.6g}", value); }

}  // namespace trainyard::tools
