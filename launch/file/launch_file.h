// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "launch/file/source_file.h"
#include "launch/file/value.h"
#include "launch/plan/plan.h"

namespace trainyard::launch {

/// A text from the launch file, with its position for errors.
struct Word {
  std::string text;
  Origin origin;
};

/// The properties of an input that the launch file overrides. An empty property keeps the value that the component
/// declares.
struct InputSpec {
  Origin origin;
  std::optional<Policy> policy;
  std::optional<std::uint64_t> window_messages;
  std::optional<std::uint64_t> window_bytes;
};

/// The value of the key `declaration` for a program that prints its declaration when it is called with `--describe`.
constexpr const char* kDescribe = "describe";

/// One table `[component.NAME]` of a launch file. It describes a plugin, a member (a program, in any language, that is
/// a full component of the run) or an external program (which has no inputs or outputs, and attaches to the run as a
/// visitor). Unknown keys and values of the wrong type have already been refused. The planner (launch/plan) checks
/// later whether the plugin, its inputs, outputs and parameters exist.
struct ComponentSpec {
  std::string name;        ///< The name with its namespace, such as "eval/logger".
  std::string name_space;  ///< The namespace alone, such as "eval" or "a/b"; empty if there is none.
  std::string key;         ///< The key of its table, such as "component.logger", for errors.
  Origin origin;           ///< The position of the table in the file.
  Word plugin;             ///< The name of the plugin; empty for a program.
  /// The program and its arguments; empty for a plugin.
  std::vector<std::string> command;
  /// Where the declaration of a member (its inputs, outputs, parameters and so on) comes from: kDescribe, or the path
  /// of a JSON file. Empty for a plugin and an external program.
  std::optional<Word> declaration;
  Value parameters;                         ///< The table `params`.
  std::map<std::string, Word> remap;        ///< The new topics of inputs and outputs, by their names.
  std::map<std::string, InputSpec> inputs;  ///< By the name of the input.
  std::map<std::string, std::string> environment;
  std::optional<Word> process;
  std::optional<Word> thread;
  bool tcp = false;  ///< True if the key `host` is an address of the loopback interface; the component then uses TCP.
  std::optional<Word> host;  ///< A host of the run, by number or name, if the key `host` gives one.
  std::vector<std::uint32_t> cpus;
  RespawnPolicy respawn;
  bool required = true;

  /// Returns true for a program that is a full component of the run.
  bool is_member() const { return declaration.has_value(); }
  /// Returns true for an external program, which is only a visitor of the run.
  bool is_visitor() const { return !command.empty() && !is_member(); }
};

/// The table `[run]` of a launch file. `manager` contains the keys for the strategy manager, the component that decides
/// when to train, validate, save and stop. The launcher itself uses the other keys. docs/launch_files.md describes all
/// of them.
struct RunSpec {
  std::string name;
  std::string directory;
  LogLevel log_level = LogLevel::kInfo;
  std::uint64_t seed = 1;
  bool flush_denormals = true;  ///< True to treat denormal numbers as zero.
  std::chrono::milliseconds start_timeout{};
  std::chrono::milliseconds stop_timeout{};
  std::chrono::milliseconds progress_timeout{};  ///< The maximum time without progress; 0 means no limit.
  /// The keys for the strategy manager, as given in the file.
  Value::Table manager;
};

/// The `placement` that the file gives as a word, and its position in the file.
struct GivenPlacement {
  Placement word = Placement::kComposed;
  Origin origin;
};

/// The table `[topology]` of a launch file: the hardware, the number of ranks, and the placement of components. The
/// planner passes each value in `given` on to the components that declare a parameter of that name.
struct TopologySpec {
  Value::Table given;  ///< The keys accelerator, devices, strategy, collective and precision, if given.
  std::optional<GivenPlacement> placement;  ///< Empty if `placement` is not given, or is a table.
  std::optional<Value> environment;         ///< The environment that the file names, not yet checked.
  bool overcommit = false;                  ///< True to start a run even if it needs more memory than the machine has.
  /// The number of hosts, not yet checked; empty if the engine (such as Slurm) decides.
  std::optional<Value> nodes;
  /// The number of ranks of each host, not yet checked; empty if every host has the number that `devices` gives.
  std::optional<Value> ranks_per_host;
  std::optional<Word> key_file;  ///< The file with the key that authenticates the hosts of the run to each other.
  std::chrono::milliseconds join_timeout{600'000};  ///< How long host 0 waits for the other hosts.
  std::map<std::string, Word> placed;               ///< The process of each component, if `placement` is a table.
};

/// A launch file after includes, arguments, substitution, overrides and conditions have been applied. Unknown keys have
/// been refused, but nothing has been compared with the plugins' declarations yet.
struct LaunchFile {
  std::string path;
  RunSpec run;
  TopologySpec topology;
  std::vector<ComponentSpec> components;  ///< Sorted by name.
  std::vector<SourceFile> sources;        ///< The files that were read, the launch file first.
};

/// Reads a launch file. If there is no file at `path`, the file of that name that comes with Trainyard is used. `words`
/// are the words of the command line. Each is either "name=value", for an argument or for a key of [topology] or [run],
/// or a path with a value, such as "component.optimizer.params.lr=0.1". `manager_keys` are the keys of [run] that
/// belong to the strategy manager. Throws Error with the file, the line and the key.
LaunchFile load_launch_file(const std::string& path, const std::vector<std::string>& words,
                            const std::vector<std::string>& manager_keys = {});

}  // namespace trainyard::launch
