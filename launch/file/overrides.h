// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "launch/file/arguments.h"
#include "launch/file/value.h"

namespace trainyard::launch {

/// The words of the command line, divided into arguments of the launch file and overrides of its values.
struct CommandLine {
  std::map<std::string, std::string> arguments;  ///< The values of arguments, by the name of the argument.
  std::vector<Assignment> overrides;             ///< The other values, such as "run.max_steps" = "100".
};

/// Divides the words of a command line into arguments and overrides. `root` is the launch file, and `run_keys` are the
/// keys of [run]. A name with dots is the path of a value to override. A name without dots is an argument if the file
/// declares it, and otherwise a key of [topology] or [run]. Throws for any other name; the error suggests a parameter
/// in the file that has this name, or else the most similar known name.
CommandLine sort_command_line(const std::vector<std::string>& words, const Value& root,
                              const std::vector<std::string>& run_keys);

/// Replaces values of the launch file `root`, following the rules of merge() (include.h). A component or parameter that
/// is given another plugin therefore loses the parameters of the old plugin. Throws for a component or group that is
/// not in the file; other keys are added if they are missing.
void apply_overrides(Value& root, const std::vector<Assignment>& assignments);

/// Returns the keys that [topology] can have. On the command line they can be given without "topology.".
const std::vector<std::string>& topology_keys();

/// Returns the keys of [run] that the launcher uses. All other keys belong to the strategy manager, the component that
/// directs the run.
const std::vector<std::string>& launcher_run_keys();

}  // namespace trainyard::launch
