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

/// What the output directory of a run says about the run: its launches, oldest first. The metrics are read separately
/// (metrics_reader.h), because they can be large.
struct RunRecord {
  std::string name;       ///< The path of the directory below the folder that was searched, such as "mnist".
  std::string directory;  ///< The output directory.
  /// The launches, oldest first; empty if none were recorded, as with Trainyard 0.1.
  std::vector<LaunchRecord> launches;
  std::vector<std::string> unreadable;  ///< Why records of launches could not be read, one sentence each.

  /// Returns the newest launch, or nullptr.
  const LaunchRecord* last() const { return launches.empty() ? nullptr : &launches.back(); }
};

/// Limits on the work of searching for runs.
struct SearchLimits {
  std::size_t depth = 4;          ///< The number of levels of folders that are searched.
  std::size_t folders = 20'000;   ///< The number of folders that are examined.
  std::size_t launches = 10'000;  ///< The number of launches of one run that are read.
};

/// Returns true if the folder is the output directory of a run: it has `launches/`, tables of metrics, or checkpoints.
bool is_output_directory(const std::string& folder);

/// Returns the runs whose output directories are `folder` itself or below it, sorted by name. Links are not followed.
/// Throws kNotFound if there is no such folder, and kInvalidArgument if it is not a folder.
std::vector<RunRecord> find_runs(const std::string& folder, const SearchLimits& limits = {});

/// Returns the number of the next launch in an output directory: one more than the largest so far.
std::uint32_t next_launch_number(const std::string& output_directory);

/// Reads the record of one run. Throws kNotFound if `directory` is not the output directory of a run.
RunRecord read_run(const std::string& directory, const SearchLimits& limits = {});

/// Returns the last step of which the launch `launches[index]` has written metrics to the table; nothing if it wrote
/// none.
std::optional<std::uint64_t> last_step(const RunRecord& run, std::size_t index, const MetricsTable& table);

/// Returns what the launch file and the command line chose for the newest launch, by name, such as "optimizer.lr" and
/// "accelerator_host.model.plugin". Of components that exist for each rank, that of rank 0 stands for all, without its
/// rank. Also "seed" and "ranks". Returns nothing for a run that kept no plan. Throws kCorrupt for a plan that cannot
/// be read.
std::map<std::string, nlohmann::json> hyperparameters(const RunRecord& run);

}  // namespace trainyard::archive
