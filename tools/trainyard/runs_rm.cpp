// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "archive/output_files.h"
#include "launch/run/directory_lock.h"
#include "messages/error.h"
#include "messages/printable.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/json_output.h"
#include "tools/trainyard/runs.h"

namespace trainyard::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

/// Locks the output directory, so that no launch can use it meanwhile. Throws if a run is using it.
std::unique_ptr<launch::DirectoryLock> lock(const archive::RunRecord& run) {
  std::unique_ptr<launch::DirectoryLock> held;
  try {
    held = std::make_unique<launch::DirectoryLock>(run.directory, launch::this_launcher("trainyard runs rm", "-"));
  } catch (const Error& error) {
    // The error message of the lock gives advice for launching a run, which would be wrong here.
    if (error.code() != Code::kInvalidArgument) throw;
    const archive::LaunchRecord* launch = run.last();
    throw Error(error.code(), "{} is not removed: a run is using it{}", run.directory,
                launch == nullptr ? ""
                                  : fmt::format(": '{}', process {} on host '{}'", launch->run, launch->launcher.pid,
                                                launch->launcher.host));
  }
  if (!held->held()) throw Error(Code::kIo, "{} is not removed: you may not write to it", run.directory);
  return held;
}

/// Asks the user on the terminal, and returns true if the answer is yes.
bool confirmed(const std::string& directory) {
  fmt::print(stderr, "Remove what runs have written to {}? [y/N] ", printable_line(directory));
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

/// Removes what one run has written, and its output directory if that is then empty.
archive::Removal remove(const archive::RunRecord& run) {
  archive::Removal removal;
  {
    const auto held = lock(run);
    removal = archive::remove_run(run.directory);
  }
  std::error_code not_empty;
  if (removal.left.empty() && removal.failed.empty()) fs::remove(run.directory, not_empty);
  return removal;
}

void print(const std::string& directory, const archive::Removal& removal) {
  fmt::print("{}: {} file{} removed\n", printable_line(directory), removal.files, removal.files == 1 ? "" : "s");
  if (!removal.left.empty()) {
    fmt::print("  left, because no run made it: {}\n",
               printable_line(fmt::format("{}", fmt::join(removal.left, ", "))));
  }
  for (const std::string& sentence : removal.failed) {
    fmt::print(stderr, "trainyard: cannot remove {}\n", printable_line(sentence));
  }
}

}  // namespace

// All runs are found before the first run is removed, so that nothing is removed if a name is wrong.
int remove_runs(const RunsArguments& arguments) {
  std::vector<archive::RunRecord> runs;
  for (const std::string& word : arguments.runs) runs.push_back(find_past_run(word, arguments.folder));
  const bool can_ask = ::isatty(STDIN_FILENO) == 1 && !arguments.as_json;
  if (!arguments.yes && !can_ask) {
    throw Error(Code::kInvalidArgument, "nothing is removed without --yes, because nobody can be asked here");
  }
  ordered_json all = ordered_json::array();
  bool failed = false;
  for (const archive::RunRecord& run : runs) {
    if (!arguments.yes && !confirmed(run.directory)) continue;
    const archive::Removal removal = remove(run);
    failed = failed || !removal.failed.empty();
    all.push_back({{"directory", run.directory},
                   {"removed_files", removal.files},
                   {"left", removal.left},
                   {"failed", removal.failed}});
    if (!arguments.as_json) print(run.directory, removal);
  }
  if (arguments.as_json) print_json(all);
  return failed ? kExitFailed : kExitOk;
}

}  // namespace trainyard::tools
