// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "launch/file/value.h"

namespace trainyard::launch {

/// One word of the command line, "name=value", split into its two parts.
struct Assignment {
  std::string name;
  std::string text;
};

/// Splits a word at the first '='. Throws kInvalidArgument if the word has no '=' or no name before it.
Assignment parse_assignment(const std::string& word);

/// Returns the value of every argument that a launch file declares in its table `[args]`: the value in `given` if there
/// is one, otherwise the default. A default can still contain `${...}`. `declared` is the table; null if the file has
/// none. An entry of the table looks like this:
///
///    devices = { default = "auto", type = "string", help = "how many", choices = ["auto", "1"] }
///
/// All keys are optional. The short form `name = 1` means `name = { default = 1 }`. Without `type`, the type is that of
/// the default, or "string" if there is none. An argument without a default must be given. Throws if a value does not
/// fit its declaration, if a declaration is invalid, or if a required value is missing.
std::map<std::string, Value> resolve_arguments(const Value* declared, const std::map<std::string, std::string>& given);

}  // namespace trainyard::launch
