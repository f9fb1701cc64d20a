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

/// A run, as its output directory describes it: its launches, oldest first. The metrics are read separately
/// (metrics_reader.h), because they can be large.
struct RunRecord {
  std::string name;       ///< The path of the directory, relative to the folder that was searched, such as "mnist".
  std::string directory;  ///< The output directory.
  /// Empty for a run without launch records, such as a run of Trainyard 0.1.
  std::vector<LaunchRecord> launches;
  std::vector<std::string> unreadable;  ///< One sentence for each launch record that could not be read.

  /// Returns the newest launch, or nullptr if there is none.
  const LaunchRecord* last() const { return launches.empty() ? nullptr : &launches.back(); }
};

/// Limits on the search for runs.
struct SearchLimits {
  std::size_t depth = 4;          ///< How many levels of folders are searched.
  std::size_t folders = 20'000;   ///< How many folders are examined.
  std::size_t launches = 10'000;  ///< How many launches of one run are read.
};

/// Returns true if the folder is the output directory of a run: it has `launches/`, tables of metrics, or checkpoints.
bool is_output_directory(const std::string& folder);

/// Returns the runs whose output directories are `folder` itself or below it, sorted by name. Links are not followed.
/// Throws kNotFound if there is no such folder, and kInvalidArgument if it is not a folder.
std::vector<RunRecord> find_runs(const std::string& folder, const SearchLimits& limits = {});

/// Returns the number of the next launch in an output directory: one more than the largest number in it.
std::uint32_t next_launch_number(const std::string& output_directory);

/// Reads the record of one run. Throws kNotFound if `directory` is not the output directory of a run.
RunRecord read_run(const std::string& directory, const SearchLimits& limits = {});

/// Returns the last step whose metrics the launch `launches[index]` has written to the table, or an empty optional if
/// the launch wrote none.
std::optional<std::uint64_t> last_step(const RunRecord& run, std::size_t index, const MetricsTable& table);

/// Returns the values that the launch file and the command line set for the newest launch, by names such as
/// "optimizer.lr" and "accelerator_host.model.plugin", and also "seed" and "ranks". For a component that exists for
/// each rank, the values of rank 0 are returned, under a name without the rank. The result is empty if the run has no
/// plan on disk. Throws kCorrupt if the plan cannot be read.
std::map<std::string, nlohmann::json> hyperparameters(const RunRecord& run);

}  // namespace trainyard::archive
