// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/trainyard/verbs.h"

namespace trainyard::tools {

// The verbs of the family `param` that concern whole components. param_verb.cpp makes the family, and adds them to it.

/// Adds `param describe`, which explains parameters.
void add_param_describe(CLI::App& family, Action& chosen);
/// Adds `param dump`, which writes the values as a part of a launch file.
void add_param_dump(CLI::App& family, Action& chosen);
/// Adds `param load`, which sets the values of such a file.
void add_param_load(CLI::App& family, Action& chosen);

}  // namespace trainyard::tools
