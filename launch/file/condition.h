#pragma once

#include <string_view>

#include "launch/file/value.h"

namespace trainyard::launch {

/// Returns whether a `when` holds: true, false, "a == b" or "a != b", after substitution. Both sides are compared as
/// text, without the spaces around them. Throws, with file, line and `key`, for anything else. Conditions are
/// deliberately not a language: whoever writes the arguments decides what needs more.
bool holds(const Value& when, std::string_view key);

}  // namespace trainyard::launch
