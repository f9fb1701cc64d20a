#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "launch/file/value.h"
#include "launch/plan/plan.h"

namespace trainyard::launch {

/// A word of the file and where it stands.
struct Word {
  std::string text;
  Origin origin;
};

/// How an input is served, as far as the file overrides what the component declared. What is not given is left to the
/// declaration.
struct InputSpec {
  Origin origin;
  std::optional<std::string> policy;
  std::optional<std::uint64_t> window_messages;
  std::optional<std::uint64_t> window_bytes;
};

/// One `[component.NAME]`: a plugin or an external program. As written, with every key known and of the right kind;
/// whether plugin, ports and parameters exist is for the planner.
struct ComponentSpec {
  std::string name;        ///< With its namespace: "eval/logger".
  std::string name_space;  ///< "", "eval" or "a/b".
  std::string key;         ///< Its place in the file: "component.logger", for errors.
  Origin origin;           ///< Of the table.
  Word plugin;             ///< Empty text: an external program.
  // Empty for a plugin; else the program and its arguments.
  std::vector<std::string> command;
  Value parameters;                   ///< A table.
  std::map<std::string, Word> remap;  ///< Port to topic.
  std::map<std::string, InputSpec> inputs;
  std::map<std::string, std::string> environment;
  std::optional<Word> process;
  std::optional<Word> thread;
  bool tcp = false;  ///< `host` is an address.
  std::vector<std::uint32_t> cpus;
  RespawnPolicy respawn;
  bool required = true;
};

/// The launcher's own keys of `[run]`; the rest belongs to the strategy manager. Documented in docs/launch_files.md.
struct RunSpec {
  std::string name;
  std::string directory;
  std::string log_level;
  std::uint64_t seed = 1;
  std::chrono::milliseconds start_timeout{};
  std::chrono::milliseconds stop_timeout{};
  // The other keys, as they were written.
  Value::Table manager;
};

/// `[topology]`: what hardware, how many ranks, which process. The planner hands the values on to the components that
/// declare parameters of these names.
struct TopologySpec {
  Value::Table given;                  ///< accelerator, devices, strategy, collective, precision, as far as given.
  Word placement;                      ///< "composed", "processes", "ranks"; empty: not given, or a table.
  std::map<std::string, Word> placed;  ///< Component to process, from an explicit table.
};

/// A launch file after includes, arguments, substitution, overrides and conditions, with every key known. Nothing in it
/// has been compared with plugins yet.
struct LaunchFile {
  std::string path;
  RunSpec run;
  TopologySpec topology;
  std::vector<ComponentSpec> components;  ///< By name.
};

/// `path` may be the name of a file that comes with Trainyard, where there is none of that name. `words` are
/// "name=value" for an argument or a key of [topology] or [run], or "component.optimizer.params.lr=0.1". `manager_keys`
/// are the keys of [run] that the strategy manager knows. Throws Error with file, line and key.
LaunchFile load_launch_file(const std::string& path, const std::vector<std::string>& words,
                            const std::vector<std::string>& manager_keys = {});

}  // namespace trainyard::launch
