#pragma once

#include <map>
#include <string>
#include <vector>

#include "launch/file/arguments.h"
#include "launch/file/value.h"

namespace trainyard::launch {

/// The command line, sorted by what it means for a launch file.
struct CommandLine {
  std::map<std::string, std::string> arguments;  ///< For [args].
  std::vector<Assignment> overrides;             ///< "run.max_steps" = "100".
};

/// A word without dots is an argument if the file declares it, else a key of [topology] or [run] (`run_keys`). Throws,
/// with the nearest name, for any other.
CommandLine sort_command_line(const std::vector<std::string>& words, const Value& root,
                              const std::vector<std::string>& run_keys);

/// Replaces one value of the file. New keys may come into being, new components may not.
void apply_override(Value& root, const Assignment& assignment);

/// The keys of [topology]. Known here, because a word without dots on the command line may mean one of them.
const std::vector<std::string>& topology_keys();

/// The launcher's own keys of [run].
const std::vector<std::string>& launcher_run_keys();

}  // namespace trainyard::launch
