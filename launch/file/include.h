#pragma once

#include <string>

#include "launch/file/value.h"

namespace trainyard::launch {

/// Lays `over` onto `base`: tables are merged key by key, everything else is replaced. A table that names another
/// `plugin` or `command` than the one below it replaces it whole, because its parameters belong to that plugin.
void merge(Value& base, Value over);

/// A launch file with everything it includes, merged; the key "include" is gone. Paths are relative to the including
/// file, later files win over earlier ones, and the including file over both. Throws, with file and line, for files
/// that include one another, with the chain.
/// At most 16 files deep and 256 in all.
Value read_with_includes(const std::string& path);

}  // namespace trainyard::launch
