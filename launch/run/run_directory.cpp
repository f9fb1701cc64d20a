// SPDX-License-Identifier: Apache-2.0
#include "launch/run/run_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/files/private_folder.h"
#include "core/process/start_ticks.h"
#include "messages/error.h"

namespace trainyard::launch {

// Runs are found without a daemon and without lock files. Each run has a directory, and its name and run.json show to
// which launcher it belongs. Because pids are reused, the start time of the launcher is compared, too.

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestRunName = 24;
constexpr std::size_t kLongestSocketPath = 107;
constexpr std::size_t kRoomForSocketName = 16;  ///< Enough for "/control", "/registry", "/12.3" and "/12.gateway".

std::vector<fs::path> folders_in(const std::string& base) {
  std::vector<fs::path> folders;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(base, ignored)) {
    // Links are left out, because a link could lead out of the folder, and sweep_stale_runs() removes what it finds.
    if (entry.is_directory(ignored) && !entry.is_symlink(ignored)) folders.push_back(entry.path());
  }
  return folders;
}

/// Returns true if the launcher whose pid is part of the name of the folder is alive. This is needed for a directory
/// without run.json, whose launcher may be about to write the file.
bool maker_is_alive(const fs::path& folder) {
  const std::string name = folder.filename();
  const std::size_t dash = name.rfind('-');
  const long pid = dash == std::string::npos ? 0 : std::strtol(name.c_str() + dash + 1, nullptr, 36);
  return pid > 0 && core::start_ticks(static_cast<pid_t>(pid)) != 0;
}

}  // namespace

std::size_t sweep_stale_runs(const std::string& base) {
  std::size_t swept = 0;
  for (const fs::path& folder : folders_in(base)) {
    const std::optional<visitors::RunInfo> info = visitors::read_run(folder);
    // For a folder without a readable run.json, only the name shows whether its launcher is alive.
    const bool in_use = info ? visitors::is_alive(*info) : maker_is_alive(folder);
    std::error_code ignored;
    if (!in_use && fs::remove_all(folder, ignored) > 0) ++swept;
  }
  return swept;
}

std::string run_name(std::string_view name, pid_t pid) {
  std::string suffix;
  // The pid is written in base 36, so that the name is short. maker_is_alive() converts it back.
  for (long rest = pid; rest > 0; rest /= 36)
    suffix.insert(suffix.begin(), "0123456789abcdefghijklmnopqrstuvwxyz"[rest % 36]);
  std::string safe;
  for (const char c : name.substr(0, kLongestRunName - 1 - suffix.size())) {
    safe += std::isalnum(static_cast<unsigned char>(c)) || c == '_' ? c : '_';
  }
  return (safe.empty() ? "run" : safe) + "-" + suffix;
}

RunDirectory::RunDirectory(const std::string& base, std::string run) : run_(std::move(run)), path_(base + "/" + run_) {
  if (path_.size() + kRoomForSocketName > kLongestSocketPath) {
    throw Error(Code::kInvalidArgument, "run directory {}: its path has {} bytes, sockets in it leave room for {}",
                path_, path_.size(), kLongestSocketPath - kRoomForSocketName);
  }
  core::make_private_folder(base);
  // If the guard and the launcher of a run were killed at the same time, the next launch removes its directory here.
  sweep_stale_runs(base);
  if (::mkdir(path_.c_str(), 0700) != 0) {
    throw Error(Code::kIo, "cannot make the run directory {}: {}", path_, std::strerror(errno));
  }
}

RunDirectory::~RunDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string RunDirectory::endpoint(std::string_view socket) const { return fmt::format("ipc://{}/{}", path_, socket); }

void RunDirectory::announce(const std::string& name, const std::string& file, const std::string& registry) const {
  const nlohmann::json json = {{"run", run_},
                               {"name", name},
                               {"file", file},
                               {"pid", ::getpid()},
                               {"start_ticks", core::start_ticks(::getpid())},
                               {"registry", registry}};
  // The file is written under another name and then renamed, so a reader sees either no file or the complete file.
  const std::string temporary = path_ + "/run.json.new";
  std::ofstream(temporary) << json.dump(2) << "\n";
  fs::rename(temporary, path_ + "/run.json");
}

}  // namespace trainyard::launch
