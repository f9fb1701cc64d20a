// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "messages/plan.h"

namespace trainyard::launch {

/// What happens when a process ends during the run. The order of the enumerators matters: if components of one process
/// have different policies, the one with the lowest applies.
struct RespawnPolicy {
  enum class When : std::uint8_t { kNever, kOnFailure, kAlways };

  When when = When::kNever;
  std::chrono::milliseconds delay{1000};
  std::uint32_t max = 3;  ///< The largest number of restarts within `window`; the end after that is final.
  std::chrono::milliseconds window{60'000};
};
constexpr auto words_of(RespawnPolicy::When) { return words("respawn policy", "never", "on_failure", "always"); }

/// Which components share a process if the launch file does not place them one by one.
enum class Placement : std::uint8_t {
  kComposed,   ///< All are in one process.
  kProcesses,  ///< Each has its own.
  kRanks,      ///< Each rank has one, and the others share one.
};
constexpr auto words_of(Placement) { return words("placement", "composed", "processes", "ranks"); }

/// Something that the planner decided because the launch file leaves it open.
struct Choice {
  std::string key;    ///< For example "devices".
  std::string given;  ///< What the file says: "auto", "-1", or nothing.
  std::string chosen;
  std::string reason;
};

/// One process of the run: some components of the plan, or an external program. The supervisor starts it, watches it
/// and may restart it.
struct PlannedProcess {
  std::string name;  ///< Unique, with only letters, digits, '_', '-' and '.'.

  /// An external program with its arguments, found in PATH. If `command` is empty, this is the process that runs the
  /// components of this plan whose `process` is `name`.
  std::vector<std::string> command;

  /// For external programs: a JSON object for the environment variable TRAINYARD_PARAMETERS.
  std::string parameters = "{}";

  std::map<std::string, std::string> environment;  ///< Added to the launcher's own environment.
  std::vector<std::uint32_t> cpus;  ///< The CPUs to which an external program is pinned; empty if it is not pinned.
  RespawnPolicy respawn;
  /// True if the run ends when the process ends for good (for an external program: with a code other than 0).
  bool required = true;
  bool tcp = false;  ///< True if the process binds tcp://127.0.0.1:* instead of ipc://.
};

/// A launch file, expanded and checked: everything that the supervisor needs to know. Nothing here depends on when or
/// by whom it is run, so `trainyard plan` shows exactly what `trainyard launch` does.
struct Plan {
  std::string file;
  std::string run;
  std::string output_directory;  ///< As written: relative to the working directory, unless it is absolute.
  std::uint64_t seed = 1;
  LogLevel log_level = LogLevel::kInfo;
  bool flush_denormals = true;  ///< True if all threads treat denormal numbers as zero.
  std::chrono::milliseconds start_timeout{30'000};
  std::chrono::milliseconds stop_timeout{10'000};
  std::chrono::milliseconds progress_timeout{300'000};  ///< How long the run may stand still; 0 for ever.
  std::uint32_t world_size = 1;
  std::vector<Choice> choices;        ///< What the planner decided.
  std::vector<std::string> warnings;  ///< What works, but not as one might expect; for people.

  /// Processes with components come first, in the order of their ProcessPlan index.
  std::vector<PlannedProcess> processes;
  std::vector<ComponentPlan> components;  ///< Sorted by index.
  std::vector<EdgePlan> edges;            ///< Sorted by id.
  std::vector<std::uint32_t> activation;  ///< Component indices: receivers before senders, sources last.
};

/// The values that are known only when the launcher starts a run.
struct RunPlace {
  /// The directory of the run's sockets. Its path is short, because a socket's path has at most 107 bytes.
  std::string run_directory;
  std::vector<std::string> plugin_path;
};

/// Returns the part of the plan that concerns one process, ready to be sent. `process_index` is its place in
/// `plan.processes`, and `edges` are those that begin or end in it. Each of its threads binds
/// "ipc://<run_directory>/<process_index>.<n>", where n counts its threads in alphabetical order, or
/// "tcp://127.0.0.1:*". Must not be called for external programs.
ProcessPlan process_plan(const Plan& plan, std::size_t process_index, const RunPlace& place);

/// Returns a human-readable description of the plan, 80 columns wide: processes, threads, components with their
/// parameters, edges with policy and transport, and the order of activation.
std::string describe(const Plan& plan);

/// Returns the plan as a JSON object.
std::string to_json(const Plan& plan);

}  // namespace trainyard::launch
