// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "launch/file/arguments.h"
#include "launch/file/value.h"

namespace trainyard::launch {

/// The words of the command line, divided into arguments and overrides of a launch file.
struct CommandLine {
  std::map<std::string, std::string> arguments;  ///< The values for [args], by name.
  std::vector<Assignment> overrides;             ///< For example "run.max_steps" = "100".
};

/// Sorts the words of a command line. A word without dots is an argument if the file declares it, otherwise a key of
/// [topology] or [run] (`run_keys`). Throws for any other; the error says which parameter of the file has this name, or
/// the nearest name.
CommandLine sort_command_line(const std::vector<std::string>& words, const Value& root,
                              const std::vector<std::string>& run_keys);

/// Merges values into the file as `merge` does (include.h): a component or parameter that gets another plugin loses
/// what the file gives to the old one. New keys may be added, but no new components.
void apply_overrides(Value& root, const std::vector<Assignment>& assignments);

/// Returns the keys of [topology]. They are listed here because a word without dots on the command line may mean one of
/// them.
const std::vector<std::string>& topology_keys();

/// Returns the launcher's own keys of [run].
const std::vector<std::string>& launcher_run_keys();

}  // namespace trainyard::launch
