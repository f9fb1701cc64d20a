// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace trainyard::archive {

/// Returns the paths of the files metrics_<stage>.csv in an output directory, sorted, or the path of metrics.jsonl if
/// there are none; at most `most`. Only regular files count.
std::vector<std::string> metrics_files(const std::string& output_directory, std::size_t most);

/// The result of removing a run.
struct Removal {
  /// The files and folders that were not removed because no run made them, relative to the directory.
  std::vector<std::string> left;
  std::vector<std::string> failed;  ///< The files and folders that could not be removed, each with the reason.
  std::size_t files = 0;            ///< The number of files that were removed.
};

/// Removes what runs have written to an output directory: tables, metrics.jsonl, insights.jsonl, TensorBoard's events,
/// checkpoints, and the records of launches, and the folders of these if nothing else is in them. The directory itself
/// and the lock in it stay, because the caller must hold the lock (launch/run/directory_lock.h). Links are removed but
/// never followed.
Removal remove_run(const std::string& output_directory);

}  // namespace trainyard::archive
