// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "launch/file/value.h"

namespace trainyard::launch {

/// Merges `over` into `base`: tables are merged key by key, and everything else is replaced. If a table of `over` names
/// a different `plugin` or `command`, it replaces that of `base` entirely, because its parameters belong to its plugin.
void merge(Value& base, Value over);

/// Reads a launch file and everything that it includes, merged; the key "include" is removed. Paths are relative to the
/// including file. Later files win over earlier ones, and the including file wins over all. Throws, with file, line and
/// the chain of files, for files that include each other. Files may be nested 16 deep, and there may be 256 in all.
Value read_with_includes(const std::string& path);

}  // namespace trainyard::launch
