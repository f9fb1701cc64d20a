// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "launch/file/value.h"

namespace trainyard::launch {

/// One word of the command line: "name=value".
struct Assignment {
  std::string name;
  std::string text;
};

/// Splits a word at the first '='. Throws kInvalidArgument for a word without '=' or without a name.
Assignment parse_assignment(const std::string& word);

/// Returns the values of the arguments that `[args]` of a launch file declares: those in `given`, otherwise the
/// defaults, which may still hold `${...}`. `declared` is null if the file has no such table.
///
///    devices = { default = "auto", type = "string", help = "how many", choices = ["auto", "1"] }
///
/// The type is inferred from the default; `name = 1` is short for `name = { default = 1 }`. An argument without a
/// default must be given. Throws for values that do not fit, for declarations that make no sense, and for missing
/// values.
std::map<std::string, Value> resolve_arguments(const Value* declared, const std::map<std::string, std::string>& given);

}  // namespace trainyard::launch
