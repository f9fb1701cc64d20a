// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "launch/file/value.h"

namespace trainyard::launch {

/// Returns whether a `when` holds: true, false, "a == b" or "a != b", after substitution. Both sides are compared as
/// text, without the spaces around them. Throws, with file, line and `key`, for anything else. More complex conditions
/// are deliberately not supported.
bool holds(const Value& when, std::string_view key);

}  // namespace trainyard::launch
