#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "messages/plan.h"

namespace trainyard::launch {

/// What happens when a process ends although the run goes on. The enumerators are ordered by eagerness; placement
/// relies on it where components of one process ask for different ones.
struct RespawnPolicy {
  enum class When { kNever, kOnFailure, kAlways };

  When when = When::kNever;
  std::chrono::milliseconds delay{1000};
  std::uint32_t max = 3;  ///< At most this many times within `window`; the next end is final.
  std::chrono::milliseconds window{60'000};
};
/// As in a launch file: "never", "on_failure", "always".
std::string_view name_of(RespawnPolicy::When when);

/// One process of the run: some components of the plan, or an external program. The supervisor starts it, watches it
/// and perhaps starts it again; what happens inside is the process's own business.
struct PlannedProcess {
  std::string name;  ///< Unique; letters, digits, '_', '-' and '.' only.

  /// An external program with its arguments, found in PATH; empty = the process that runs the components of this plan
  /// whose `process` is `name`.
  std::vector<std::string> command;

  /// External programs: JSON object, for the environment variable TRAINYARD_PARAMETERS.
  std::string parameters = "{}";

  std::map<std::string, std::string> environment;  ///< On top of the launcher's own.
  std::vector<std::uint32_t> cpus;                 ///< External programs: pinned to these; empty = not pinned.
  RespawnPolicy respawn;
  bool required = true;  ///< Its end for good ends the run (for an external program: an end with another code than 0).
  bool tcp = false;      ///< Binds tcp://127.0.0.1:* instead of ipc://.
};

/// A launch file, expanded and checked: everything that the supervisor needs to know. Nothing here depends on when or
/// by whom it is run, so `trainyard plan` shows exactly what `trainyard launch` does.
struct Plan {
  std::string file;
  std::string run;
  std::string output_directory;  ///< As written: relative to the working directory, unless absolute.
  std::uint64_t seed = 1;
  std::string log_level = "info";  ///< A name that spdlog knows.
  std::chrono::milliseconds start_timeout{30'000};
  std::chrono::milliseconds stop_timeout{10'000};
  std::uint32_t world_size = 1;

  std::vector<PlannedProcess> processes;  ///< Those with components first, in the order of their ProcessPlan index.
  std::vector<ComponentPlan> components;  ///< By index.
  std::vector<EdgePlan> edges;            ///< By id.
  std::vector<std::uint32_t> activation;  ///< Component indices: receivers before senders, sources last.
};

/// What only the launcher knows when it starts a run.
struct RunPlace {
  std::string run_directory;  ///< For sockets; short, because a socket's path has at most 107 bytes.
  std::vector<std::string> plugin_path;
};

/// The part of one process, ready to be sent: `process_index` is the place in `plan.processes`, `edges` are those that
/// touch it, and every thread of it binds "ipc://<run_directory>/<process_index>.<n>" (n counts its threads in
/// alphabetical order) or "tcp://127.0.0.1:*". Not for external programs.
ProcessPlan process_plan(const Plan& plan, std::size_t process_index, const RunPlace& place);

/// For people: processes, threads, components with their parameters, edges with policy and transport, activation order;
/// 80 columns wide.
std::string describe(const Plan& plan);

/// The same for programs: a JSON object.
std::string to_json(const Plan& plan);

}  // namespace trainyard::launch
