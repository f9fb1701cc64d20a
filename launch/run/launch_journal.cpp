// SPDX-License-Identifier: Apache-2.0
#include "launch/run/launch_journal.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <set>

#include "archive/run_record.h"
#include "archive/small_file.h"
#include "messages/error.h"

namespace trainyard::launch {
namespace {

namespace fs = std::filesystem;

/// The deadline for git. It is long enough for a large repository on a slow disk, and nothing waits for the answer.
constexpr std::chrono::seconds kGitDeadline{10};

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string working_directory() {
  std::error_code none;
  return fs::current_path(none);
}

/// Returns a name for the copy of a file, under which no other copy is stored: "mnist.toml", or "2-mnist.toml".
std::string copy_name(const std::string& path, std::set<std::string>& taken) {
  const std::string name = fs::path(path).filename();
  std::string free = name;
  for (int i = 2; !taken.insert(free).second; ++i) free = fmt::format("{}-{}", i, name);
  return free;
}

}  // namespace

LaunchJournal::LaunchJournal(RunContext& run) : run_(run) {
  record_.run = run.directory.run();
  record_.name = run.plan.run;
  record_.file = run.plan.file;
  record_.arguments = run.plan.arguments;
  record_.working_directory = working_directory();
  record_.seed = run.plan.seed;
  record_.ranks = run.plan.world_size;
  record_.versions = run.options.versions;
  record_.launcher = archive::this_process();
  record_.started_ns = now_ns();
}

void LaunchJournal::begin() {
  if (run_.plan.output_directory.empty()) return;
  try {
    make_folder();
    copy_sources();
    // The values of environment variables are left out. They may be secrets, and the record is kept for a long time and
    // may be given to other people.
    archive::write_whole_file(folder_ + "/plan.json", to_json(run_.plan, EnvironmentValues::kHidden) + "\n");
    write();
    ask_git();
  } catch (const Error& error) {
    warn(error.what());
  }
}

// Makes the folder of this launch. No other launch can take the same number, because the output directory is locked.
void LaunchJournal::make_folder() {
  const std::string all = run_.plan.output_directory + "/launches";
  std::error_code error;
  fs::create_directories(all, error);
  record_.number = archive::next_launch_number(run_.plan.output_directory);
  const std::string folder = archive::launch_folder(run_.plan.output_directory, record_.number);
  if (::mkdir(folder.c_str(), 0777) != 0) {
    throw Error(Code::kIo, "cannot make the folder {}: {}", folder, std::strerror(errno));
  }
  folder_ = folder;
}

// Writes copies of the launch files, with the texts that the planner has read, even if the files have changed since.
void LaunchJournal::copy_sources() {
  std::error_code error;
  fs::create_directory(folder_ + "/files", error);
  std::set<std::string> taken;
  for (const SourceFile& source : run_.plan.sources) {
    const auto same = [&](const archive::KeptFile& kept) { return kept.path == source.path; };
    if (std::ranges::any_of(record_.files, same)) continue;
    const std::string copy = "files/" + copy_name(source.path, taken);
    archive::write_whole_file(folder_ + "/" + copy, source.text);
    record_.files.push_back({source.path, copy});
  }
}

void LaunchJournal::write() const {
  archive::write_whole_file(folder_ + "/launch.json", archive::format_launch_record(record_));
}

void LaunchJournal::ask_git() {
  const std::string folder = fs::path(run_.plan.file).parent_path();
  git_ = std::make_unique<GitQuestion>(run_.loop, folder.empty() ? "." : folder, kGitDeadline,
                                       [this](archive::GitState state) {
                                         record_.git = std::move(state);
                                         try {
                                           write();
                                         } catch (const Error& error) {
                                           warn(error.what());
                                         }
                                       });
}

void LaunchJournal::end(const RunOutcome& outcome) {
  git_.reset();
  if (folder_.empty()) return;
  record_.ended_ns = now_ns();
  record_.state = outcome.state();
  record_.reason = outcome.reason();
  try {
    write();
  } catch (const Error& error) {
    warn(error.what());
  }
}

void LaunchJournal::warn(const std::string& reason) {
  if (std::exchange(warned_, true)) return;
  run_.console.say(fmt::format("warning: the record of this launch is incomplete: {}", reason));
}

}  // namespace trainyard::launch
