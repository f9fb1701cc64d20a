// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "launch/file/launch_file.h"

namespace trainyard::launch {

/// Returns the components that a launch file declares in `[component.*]` and `[group.*.component.*]`, without those
/// whose condition `when` is false. They are sorted by name. `root` is the content of the file after substitution and
/// overrides. Throws for unknown keys, values of the wrong type, and names that are used twice.
std::vector<ComponentSpec> read_components(const Value& root);

}  // namespace trainyard::launch
