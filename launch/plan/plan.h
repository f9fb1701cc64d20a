// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/config/plugin_spec.h"
#include "core/plugin/plugin_info.h"
#include "launch/file/source_file.h"
#include "messages/plan.h"

namespace trainyard::launch {

/// The rules for restarting a process that ends during the run. If the components of a process have different policies,
/// the policy whose `when` comes first in the enumeration applies.
struct RespawnPolicy {
  enum class When : std::uint8_t { kNever, kOnFailure, kAlways };

  When when = When::kNever;
  std::chrono::milliseconds delay{1000};
  /// The maximum number of restarts within `window`. A process that ends after that many restarts is not restarted.
  std::uint32_t max = 3;
  std::chrono::milliseconds window{60'000};
};
constexpr auto words_of(RespawnPolicy::When) { return words("respawn policy", "never", "on_failure", "always"); }

/// The rules by which components share processes if the launch file does not place them individually.
enum class Placement : std::uint8_t {
  kComposed,   ///< All components share one process.
  kProcesses,  ///< Each component has its own process.
  kRanks,      ///< Each rank has its own process; all other components share one.
};
constexpr auto words_of(Placement) { return words("placement", "composed", "processes", "ranks"); }

/// A decision of the planner about something that the launch file leaves open.
struct Choice {
  std::string key;    ///< What was decided, such as "devices".
  std::string given;  ///< The value in the file: "auto", "-1", or empty if there is none.
  std::string chosen;
  std::string reason;
  bool changes_results = false;  ///< True if the losses depend on it. A launch then tells the user.
};

/// What is copied between host memory and the memory of the device on which a rank trains.
struct MemoryFlow {
  std::uint32_t rank = 0;
  std::string accelerator;  ///< The name of the accelerator, which is also the name of its memory.
  /// Why the optimizer updates the parameters in host memory, so that every step copies the gradients to the host and
  /// the parameters back. Empty if the optimizer works on the device.
  std::string host_updates_because;
  /// The device plugin with which an optimizer in another process works on the device. Empty if the optimizer is in the
  /// same process or works in host memory.
  std::string shared_by;
  /// The components that read the arena (the memory with the parameters and gradients) in host memory after a step.
  std::vector<std::string> readers;
  std::vector<std::string> savers;  ///< The components that read the arena in host memory to save it.
  /// The strategy with which the ranks exchange gradients or parameters. Empty if there is only one rank.
  std::string strategy;
  std::string collective;  ///< The collective through which they do it.
};

/// A process of the run, as planned. It hosts components that are plugins, or is a member (a program, in any language,
/// that is itself a component of the plan), or is an external program, which has no component and no edges in the plan
/// and attaches to the run as a visitor.
struct PlannedProcess {
  std::string name;  ///< The name, which is unique and consists of letters, digits, '_', '-' and '.'.

  /// The program of the member or external program, and its arguments; the program is looked up in PATH. If `command`
  /// is empty, the process hosts the plugins of the components whose `process` is equal to `name`.
  std::vector<std::string> command;
  bool member = false;  ///< True if the program is a component of the plan; its `process` then equals `name`.

  /// For external programs: the value of the environment variable TRAINYARD_PARAMETERS, a JSON object.
  std::string parameters = "{}";

  std::map<std::string, std::string> environment;  ///< The variables that are added to the launcher's own environment.
  std::vector<std::uint32_t> cpus;  ///< The CPUs to which the process is pinned; empty if it is not pinned.
  RespawnPolicy respawn;
  /// True if the run fails when the process ends and is not restarted. An external program can end with exit code 0
  /// without that consequence.
  bool required = true;
  bool tcp = false;        ///< True if the process binds TCP addresses instead of ipc addresses.
  std::uint32_t host = 0;  ///< The number of the host on which the process runs.

  /// Returns true unless the process is an external program.
  bool has_components() const { return command.empty() || member; }
};

/// The result of planning: an expanded and checked launch file, with everything that the supervisor (the part of the
/// launcher that runs a plan) needs. A plan depends neither on the time nor on the user of a run, so `trainyard plan`
/// shows exactly what `trainyard launch` executes.
struct Plan {
  std::string file;
  std::vector<SourceFile> sources;     ///< The launch file and what it includes, as they were read.
  std::vector<std::string> arguments;  ///< The words of the command line, such as "devices=2".
  std::string run;
  /// As written in the launch file. A relative path is relative to the working directory.
  std::string output_directory;
  std::uint64_t seed = 1;
  LogLevel log_level = LogLevel::kInfo;
  bool flush_denormals = true;  ///< True if all threads treat denormal numbers as zero.
  std::chrono::milliseconds start_timeout{30'000};
  std::chrono::milliseconds stop_timeout{10'000};
  /// How long the run can go without progress before it fails; 0 means no limit.
  std::chrono::milliseconds progress_timeout{300'000};
  std::uint32_t world_size = 1;
  std::uint32_t hosts = 1;                       ///< The number of hosts.
  std::vector<std::uint32_t> ranks_of_hosts{1};  ///< The number of ranks of each host, by the number of the host.
  std::vector<std::string> host_names;           ///< The names of the hosts, by number; empty if they are not known.
  std::string key_file;  ///< The file with the key of the hosts; empty if the launch file names none.
  std::chrono::milliseconds join_timeout{600'000};  ///< How long host 0 waits for the other hosts.
  PluginSpec environment;       ///< The environment that the launch file names; no plugin if it is to be detected.
  std::vector<Choice> choices;  ///< What the planner decided.
  std::vector<std::string> warnings;  ///< Texts for the user about settings that work, but differently than expected.
  std::vector<MemoryFlow> memory;     ///< One element for each rank whose device has its own memory, sorted by rank.

  /// The processes with components, in the order of their ProcessPlan index, followed by the external programs.
  std::vector<PlannedProcess> processes;
  std::vector<ComponentPlan> components;              ///< Sorted by index.
  std::map<std::uint32_t, core::PluginInfo> members;  ///< The declarations of the members, by index of the component.
  std::vector<EdgePlan> edges;                        ///< Sorted by id.
  /// The indices of the components in the order of activation; see activation_order().
  std::vector<std::uint32_t> activation;
};

/// The parts of a process's plan that are known only when the launcher starts the run. They are the same for all
/// processes of a host.
struct RunPlace {
  /// The directory of the run's sockets. Its path must be short, because the path of a socket is at most 107 bytes
  /// long.
  std::string run_directory;
  std::vector<std::string> plugin_path;  ///< The directories that the process loads plugins from.
  std::string address = "127.0.0.1";     ///< The address on which processes that use TCP listen.
};

/// Returns the plan that is sent to one process. It contains all components, because a process needs to know the
/// components at the other ends of its edges, but only the edges that begin or end in the process. `process_index` is
/// the index of the process in `plan.processes`; the process must not be an external program. Each thread of the
/// process binds an address: "ipc://<run_directory>/<process_index>.<n>", where n is the thread's position, counted
/// from 0, in the alphabetical list of the process's threads, or "tcp://<address>:*" if the process uses TCP.
ProcessPlan process_plan(const Plan& plan, std::size_t process_index, const RunPlace& place);

/// Returns a host as text: "host 1 (node7)", or only "host 1" if its name is not known.
std::string describe_host(const Plan& plan, std::uint32_t host);

/// Returns the ranks of a host as text: "rank 3" or "ranks 2 to 3".
std::string describe_ranks(const Plan& plan, std::uint32_t host);

/// Returns a human-readable description of the plan, 80 columns wide: processes, threads, components with their
/// parameters, edges with policy and transport, and the order of activation.
std::string describe(const Plan& plan);

/// Whether a plan is shown with the values of the environment variables that it sets. They may be secrets.
enum class EnvironmentValues : std::uint8_t { kShown, kHidden };

/// Returns the plan as a JSON object. If the values of environment variables are hidden, they are null.
std::string to_json(const Plan& plan, EnvironmentValues values = EnvironmentValues::kShown);

}  // namespace trainyard::launch
