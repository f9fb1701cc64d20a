#pragma once

#include <string_view>

#include "launch/file/value.h"

namespace trainyard::launch {

/// Whether a `when` holds: true, false, "a == b" or "a != b", after substitution. Both sides are compared as text,
/// without the spaces around them. Throws, with file, line and `key`, for anything else. Deliberately no language: what
/// needs more is decided by whoever writes the arguments.
bool holds(const Value& when, std::string_view key);

}  // namespace trainyard::launch
