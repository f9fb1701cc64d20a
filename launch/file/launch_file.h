// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "launch/file/value.h"
#include "launch/plan/plan.h"

namespace trainyard::launch {

/// A word of the launch file, with the place where it is written.
struct Word {
  std::string text;
  Origin origin;
};

/// The properties of an input that the file overrides. The component's declaration determines the others.
struct InputSpec {
  Origin origin;
  std::optional<Policy> policy;
  std::optional<std::uint64_t> window_messages;
  std::optional<std::uint64_t> window_bytes;
};

/// One `[component.NAME]`: a plugin or an external program. Its values are those of the file; unknown keys and wrong
/// types have already been refused. The planner checks whether the plugin, its ports and its parameters exist.
struct ComponentSpec {
  std::string name;        ///< The name with its namespace, such as "eval/logger".
  std::string name_space;  ///< For example "", "eval" or "a/b".
  std::string key;         ///< Its place in the file, such as "component.logger", for errors.
  Origin origin;           ///< Where the table was written.
  Word plugin;             ///< Its text is empty for an external program.
  /// The program and its arguments; empty for a plugin.
  std::vector<std::string> command;
  Value parameters;                   ///< The key `params`, a table.
  std::map<std::string, Word> remap;  ///< The topic of every remapped port, by the port's name.
  std::map<std::string, InputSpec> inputs;
  std::map<std::string, std::string> environment;
  std::optional<Word> process;
  std::optional<Word> thread;
  bool tcp = false;  ///< True if the key `host` is not "local"; the component then uses TCP.
  std::vector<std::uint32_t> cpus;
  RespawnPolicy respawn;
  bool required = true;
};

/// The keys of `[run]` that the launcher uses; the others belong to the strategy manager. They are documented in
/// docs/launch_files.md.
struct RunSpec {
  std::string name;
  std::string directory;
  LogLevel log_level = LogLevel::kInfo;
  std::uint64_t seed = 1;
  bool flush_denormals = true;  ///< True to treat denormal numbers as zero.
  std::chrono::milliseconds start_timeout{};
  std::chrono::milliseconds stop_timeout{};
  std::chrono::milliseconds progress_timeout{};  ///< 0 if the run may stand still for ever.
  /// The other keys, as they were written.
  Value::Table manager;
};

/// The `placement` of the file and its place.
struct GivenPlacement {
  Placement word = Placement::kComposed;
  Origin origin;
};

/// `[topology]`: the hardware, the number of ranks, and the processes. The planner passes the values on to the
/// components that declare parameters of these names.
struct TopologySpec {
  Value::Table given;  ///< accelerator, devices, strategy, collective and precision, as far as they are given.
  std::optional<GivenPlacement> placement;  ///< Empty if it is not given or is a table.
  bool overcommit = false;                  ///< True to start a run although it needs more memory than there is.
  std::map<std::string, Word> placed;       ///< The process of each component, from an explicit table.
};

/// A launch file after includes, arguments, substitution, overrides and conditions. Unknown keys have been refused, but
/// nothing has been checked against the plugins yet.
struct LaunchFile {
  std::string path;
  RunSpec run;
  TopologySpec topology;
  std::vector<ComponentSpec> components;  ///< Sorted by name.
};

/// Reads a launch file. If no file exists at `path`, a file of that name that is shipped with Trainyard is used.
/// `words` are "name=value" for an argument or a key of [topology] or [run], or "component.optimizer.params.lr=0.1".
/// `manager_keys` are the keys of [run] that the strategy manager knows. Throws Error with file, line and key.
LaunchFile load_launch_file(const std::string& path, const std::vector<std::string>& words,
                            const std::vector<std::string>& manager_keys = {});

}  // namespace trainyard::launch
