// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainyard::visitors {

/// The content of the file `run.json` in a run directory. The launcher writes this file so that other programs of the
/// same user can find the run (docs/wire_format.md, section 1).
struct RunInfo {
  std::string run;   ///< The name of the run, unique on this host, such as "mnist-1xk".
  std::string name;  ///< The name that the launch file or the user gave, such as "mnist".
  std::string file;  ///< The launch file.
  pid_t pid = 0;     ///< The pid of the launcher.
  /// When the launcher was started; see core::start_ticks(). It distinguishes the launcher from a later process with
  /// the same pid.
  std::uint64_t start_ticks = 0;
  std::string registry;   ///< The ZeroMQ endpoint of the registry (docs/wire_format.md, section 2).
  std::string directory;  ///< The run directory. It is not part of the file.
};

/// Returns the default folder for run directories: `trainyard-<uid>` in the folder that XDG_RUNTIME_DIR names, or in
/// /tmp if it does not name a folder.
std::string runs_directory();

/// Reads `run.json` in a run directory, whether the launcher is alive or not. Returns nothing if the file does not
/// exist or cannot be understood.
std::optional<RunInfo> read_run(const std::string& directory);

/// Returns the run to which this process belongs, for components that are visitors of their own run. A component can
/// call this once it is active, because the launcher has written `run.json` by then. Throws kNotFound in a process that
/// belongs to no run.
RunInfo own_run();

/// Returns true if the launcher of the run is alive. Always returns true for a run to which this program attaches
/// through a front door (visitors/door.h), because its launcher is on another host and cannot be checked.
bool is_alive(const RunInfo& run);

/// Returns the runs whose launchers are alive, newest first. Throws kIo if `base` belongs to another user or is
/// writable by others, because its content cannot be trusted.
std::vector<RunInfo> list_runs(const std::string& base = runs_directory());

/// Returns the newest run for which `run` or `name` in its RunInfo equals `name`, or the newest of all runs if `name`
/// is empty. If `name` is the address of a front door, such as "laptop@tcp://node7:7401", returns the run behind this
/// door; see run_at_door(). Throws kNotFound, with the most similar name, if there is no such run.
RunInfo find_run(const std::string& name, const std::string& base = runs_directory());

}  // namespace trainyard::visitors
