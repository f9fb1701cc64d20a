// SPDX-License-Identifier: Apache-2.0
#include "archive/output_files.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string_view>

namespace trainyard::archive {

namespace {

namespace fs = std::filesystem;

/// Returns true if a run can have made a file of this name.
using Ours = std::function<bool(const std::string& name)>;

bool is_table(const std::string& name) { return name.starts_with("metrics_") && name.ends_with(".csv"); }

/// Returns true for a file of the logger. A file "metrics_<stage>.csv.tmp" remains if a crash interrupts the logger
/// while it adds a column.
bool is_log(const std::string& name) {
  return name == "metrics.jsonl" || name == "insights.jsonl" || is_table(name) ||
         (name.starts_with("metrics_") && name.ends_with(".csv.tmp"));
}

bool is_number(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_checkpoint(const std::string& name) { return name.starts_with("step-") || name.starts_with(".tmp-step-"); }

bool is_in_checkpoint(const std::string& name) { return name.ends_with(".safetensors") || name.ends_with(".json"); }

bool is_in_launch(const std::string& name) {
  return name == "launch.json" || name == "plan.json" || name == "launch.json.new" || name == "plan.json.new";
}

/// Returns the paths of the entries of a folder, sorted. Returns none for a link to a folder, because the link could
/// lead anywhere.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code none;
  if (!fs::is_directory(fs::symlink_status(folder, none))) return entries;
  for (const auto& entry : fs::directory_iterator(folder, none)) entries.push_back(entry.path());
  std::ranges::sort(entries);
  return entries;
}

bool is_folder(const fs::path& path) {
  std::error_code none;
  return fs::is_directory(fs::symlink_status(path, none));
}

/// Removes the files of a run one by one, but only files with names that runs give to their files.
class Remover {
 public:
  explicit Remover(fs::path root) : root_(std::move(root)) {}

  Removal run() {
    remove_files(root_, is_log);
    remove_files(root_ / "tensorboard",
                 [](const std::string& name) { return name.starts_with("events.out.tfevents"); });
    remove_checkpoints();
    remove_launches();
    for (const char* folder : {"tensorboard", "checkpoints", "launches"}) remove_if_empty(root_ / folder);
    report_rest(root_);
    return std::move(result_);
  }

 private:
  void remove_checkpoints() {
    const fs::path folder = root_ / "checkpoints";
    for (const fs::path& entry : entries_of(folder)) {
      const std::string name = entry.filename();
      if (is_folder(entry) && is_checkpoint(name)) {
        remove_files(entry, is_in_checkpoint);
        remove_if_empty(entry);
      } else if (fs::is_symlink(entry) && (name == "last" || name == "best")) {
        remove(entry);
      }
    }
  }

  void remove_launches() {
    for (const fs::path& entry : entries_of(root_ / "launches")) {
      if (!is_folder(entry) || !is_number(entry.filename())) continue;
      remove_files(entry, is_in_launch);
      // These files can have any name, because they are copies of the launch files.
      remove_files(entry / "files", [](const std::string&) { return true; });
      remove_if_empty(entry / "files");
      remove_if_empty(entry);
    }
  }

  void remove_files(const fs::path& folder, const Ours& ours) {
    for (const fs::path& entry : entries_of(folder)) {
      if (!is_folder(entry) && ours(entry.filename())) remove(entry);
    }
  }

  void remove(const fs::path& path) {
    std::error_code error;
    if (fs::remove(path, error)) {
      ++result_.files;
    } else {
      result_.failed.push_back(path.string() + ": " + error.message());
    }
  }

  // A folder that is not empty remains, and report_rest() reports its content.
  static void remove_if_empty(const fs::path& folder) {
    std::error_code not_empty;
    if (is_folder(folder) && fs::is_empty(folder, not_empty)) fs::remove(folder, not_empty);
  }

  // Adds everything that remains to `left`: the single files in folders that runs make, and only the names of other
  // folders.
  void report_rest(const fs::path& folder) {
    for (const fs::path& entry : entries_of(folder)) {
      const std::string name = entry.filename();
      // The lock file remains on purpose: the caller holds the lock.
      if (folder == root_ && name == "run.lock") continue;
      const bool made = folder != root_ || name == "tensorboard" || name == "checkpoints" || name == "launches";
      if (is_folder(entry) && made) {
        report_rest(entry);
      } else {
        result_.left.push_back(entry.lexically_relative(root_));
      }
    }
  }

  fs::path root_;
  Removal result_;
};

}  // namespace

std::vector<std::string> metrics_files(const std::string& output_directory, std::size_t most) {
  std::vector<std::string> files;
  std::error_code none;
  for (const fs::path& entry : entries_of(output_directory)) {
    if (files.size() < most && is_table(entry.filename()) && fs::is_regular_file(entry, none)) files.push_back(entry);
  }
  const fs::path lines = fs::path(output_directory) / "metrics.jsonl";
  if (files.empty() && fs::is_regular_file(lines, none)) files.push_back(lines);
  return files;
}

Removal remove_run(const std::string& output_directory) { return Remover(output_directory).run(); }

}  // namespace trainyard::archive
