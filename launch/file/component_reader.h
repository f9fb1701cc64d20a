// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "launch/file/launch_file.h"

namespace trainyard::launch {

/// Returns the components of `[component.*]` and `[group.*.component.*]` whose conditions hold, sorted by name. `root`
/// is a resolved launch file. Throws for unknown keys, values of the wrong kind and names that appear twice.
std::vector<ComponentSpec> read_components(const Value& root);

}  // namespace trainyard::launch
