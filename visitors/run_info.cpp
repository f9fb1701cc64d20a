// SPDX-License-Identifier: Apache-2.0
#include "visitors/run_info.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "core/files/private_folder.h"
#include "core/files/regular_file.h"
#include "core/process/start_ticks.h"
#include "messages/error.h"
#include "messages/nearest.h"
#include "visitors/door.h"

namespace trainyard::visitors {

namespace fs = std::filesystem;

std::string runs_directory() {
  const char* given = std::getenv("XDG_RUNTIME_DIR");
  std::error_code none;
  const std::string parent = given != nullptr && fs::is_directory(given, none) ? given : "/tmp";
  return fmt::format("{}/trainyard-{}", parent, ::geteuid());
}

std::optional<RunInfo> read_run(const std::string& directory) {
  const std::string path = directory + "/run.json";
  std::error_code none;
  if (!fs::is_regular_file(path, none)) return std::nullopt;
  std::ifstream file(path);
  const auto json = nlohmann::json::parse(file, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  try {
    RunInfo info;
    json.at("run").get_to(info.run);
    json.at("name").get_to(info.name);
    json.at("file").get_to(info.file);
    json.at("pid").get_to(info.pid);
    json.at("start_ticks").get_to(info.start_ticks);
    json.at("registry").get_to(info.registry);
    info.directory = directory;
    return info;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;  // Another program or another version has written the file.
  }
}

RunInfo own_run() {
  const char* directory = std::getenv("TRAINYARD_RUN_DIRECTORY");
  const std::string given = directory == nullptr ? "" : directory;
  auto run = read_run(given);
  if (!run) throw Error(Code::kNotFound, "TRAINYARD_RUN_DIRECTORY = '{}' does not name the directory of a run", given);
  return *std::move(run);
}

// The start time is compared as well, because the pid may have been reused.
bool is_alive(const RunInfo& run) {
  if (is_door(run.registry)) return true;  // GatewayLink notices when a run behind a front door ends.
  return run.start_ticks != 0 && core::start_ticks(run.pid) == run.start_ticks;
}

// The folder of a dead run may still exist; it is skipped here and removed by the next launch.
std::vector<RunInfo> list_runs(const std::string& base) {
  std::vector<RunInfo> runs;
  if (!core::is_there(base)) return runs;
  core::require_private_folder(base);
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(base, ignored)) {
    if (!entry.is_directory(ignored) || entry.is_symlink(ignored)) continue;  // A link could lead out of the folder.
    const std::optional<RunInfo> info = read_run(entry.path());
    if (info && is_alive(*info)) runs.push_back(*info);
  }
  std::ranges::sort(runs, std::greater{}, &RunInfo::start_ticks);
  return runs;
}

RunInfo find_run(const std::string& name, const std::string& base) {
  if (name.find("tcp://") != std::string::npos) return run_at_door(name);
  const std::vector<RunInfo> runs = list_runs(base);
  if (runs.empty()) throw Error(Code::kNotFound, "no launch is running (looked in {})", base);
  // If there are several runs, the user most likely means the one that was started last.
  if (name.empty()) return runs.front();
  std::vector<std::string> known;
  for (const RunInfo& run : runs) {
    // The list is sorted newest first, so the first match is the newest.
    if (run.run == name || run.name == name) return run;
    known.insert(known.end(), {run.run, run.name});
  }
  throw Error(Code::kNotFound, "no launch named '{}' is running{}", name, suggestion(name, known));
}

}  // namespace trainyard::visitors
