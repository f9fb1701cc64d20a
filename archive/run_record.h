// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "archive/launch_record.h"
#include "archive/metrics_table.h"

namespace trainyard::archive {

/// What the output directory of a run records about the run, except the metrics. Metrics can be large, so MetricsReader
/// reads them separately.
struct RunRecord {
  /// The path of the output directory, relative to the folder that was searched, such as "mnist". If that folder is
  /// itself the output directory, or if read_run() made this record, this is the directory's own name.
  std::string name;
  std::string directory;  ///< The output directory.
  /// The records of the launches, oldest first. Empty for a run of Trainyard 0.1, which wrote no such records.
  std::vector<LaunchRecord> launches;
  std::vector<std::string> unreadable;  ///< One sentence for each launch record that could not be read.

  /// Returns the newest launch, or nullptr if there is none.
  const LaunchRecord* last() const { return launches.empty() ? nullptr : &launches.back(); }
};

/// Limits on the search for runs.
struct SearchLimits {
  std::size_t depth = 4;          ///< How many levels of folders are searched.
  std::size_t folders = 20'000;   ///< How many folders are examined.
  std::size_t launches = 10'000;  ///< How many launches of one run are read; the newest are preferred.
};

/// Returns true if the folder is the output directory of a run: it has `launches/`, tables of metrics, or checkpoints.
bool is_output_directory(const std::string& folder);

/// Returns the runs whose output directories are in `folder` or in folders below it, sorted by name. If `folder` is
/// itself an output directory, returns only this run. Folders beyond the limits are left out, and links are not
/// followed. Throws kNotFound if there is no such folder, and kInvalidArgument if it is not a folder.
std::vector<RunRecord> find_runs(const std::string& folder, const SearchLimits& limits = {});

/// Returns the number that the next launch in an output directory gets: one more than the largest number of the
/// launches in it, or 1 if it contains no launch.
std::uint32_t next_launch_number(const std::string& output_directory);

/// Reads the record of one run. Throws kNotFound if `directory` is not the output directory of a run.
RunRecord read_run(const std::string& directory, const SearchLimits& limits = {});

/// Returns the last step for which the launch `run.launches[index]` wrote metrics to the table, or an empty optional if
/// that launch wrote none. A row belongs to the launch during which it was written.
std::optional<std::uint64_t> last_step(const RunRecord& run, std::size_t index, const MetricsTable& table);

/// Returns the values that the launch file and the command line set for the newest launch, by names such as
/// "optimizer.lr" and "accelerator_host.model.plugin", and also "seed" and "ranks". For a component that exists for
/// each rank, the values of rank 0 are returned, under a name without the rank. The result is empty if the run has no
/// plan on disk. Throws kCorrupt if the plan is malformed.
std::map<std::string, nlohmann::json> hyperparameters(const RunRecord& run);

}  // namespace trainyard::archive
