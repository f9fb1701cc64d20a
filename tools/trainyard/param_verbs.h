// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/trainyard/verbs.h"

namespace trainyard::tools {

// The subcommands of `trainyard param` that concern whole components. param_verb.cpp defines the command `param` and
// calls these functions. `family` is the parser of `param`, and `chosen` receives the action of the subcommand that the
// user has typed.

/// Adds `param describe`, which shows the descriptions of parameters.
void add_param_describe(CLI::App& family, Action& chosen);
/// Adds `param dump`, which writes the current values of parameters in the syntax of a launch file.
void add_param_dump(CLI::App& family, Action& chosen);
/// Adds `param load`, which sets parameters to the values in a file that `param dump` has written.
void add_param_load(CLI::App& family, Action& chosen);

}  // namespace trainyard::tools
