// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/trainyard/verbs.h"

namespace trainyard::tools {

// The verbs of the family `param` that concern whole components. param_verb.cpp makes the family, and adds them to it.

/// Adds `param describe`, which shows the descriptions of parameters.
void add_param_describe(CLI::App& family, Action& chosen);
/// Adds `param dump`, which writes the current values in the form of a part of a launch file.
void add_param_dump(CLI::App& family, Action& chosen);
/// Adds `param load`, which sets parameters to the values in a file that `param dump` has written.
void add_param_load(CLI::App& family, Action& chosen);

}  // namespace trainyard::tools
