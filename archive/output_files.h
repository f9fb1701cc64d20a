// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace trainyard::archive {

/// Returns the paths of the files metrics_<stage>.csv in an output directory, sorted, or the path of metrics.jsonl if
/// there are no such files. Returns at most `most` paths. Only regular files count.
std::vector<std::string> metrics_files(const std::string& output_directory, std::size_t most);

/// The result of removing a run.
struct Removal {
  /// What remains in the directory, as paths relative to it: files and folders that remove_run() keeps, and files that
  /// could not be removed. The lock is not listed.
  std::vector<std::string> left;
  std::vector<std::string> failed;  ///< The paths that could not be removed, each with the reason.
  std::size_t files = 0;            ///< The number of files that were removed.
};

/// Removes from an output directory what the launcher, the logger and the checkpoint writer have written: tables of
/// metrics, metrics.jsonl, insights.jsonl, event files for TensorBoard, checkpoints, and launch records. The folders
/// that contained them are removed if they are then empty. Other files, such as recordings, are kept. The directory
/// itself and the lock in it remain, too, because the caller must hold the lock (launch/run/directory_lock.h). Links
/// are removed but never followed.
Removal remove_run(const std::string& output_directory);

}  // namespace trainyard::archive
