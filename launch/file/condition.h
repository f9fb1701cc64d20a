// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "launch/file/value.h"

namespace trainyard::launch {

/// Evaluates the condition `when` of a component, after substitution. It can be true, false, or the text "a == b" or "a
/// != b", whose two sides are compared as text, without the spaces around them. Throws for any other value; the error
/// names the file, the line and `key`. More complex conditions are deliberately not supported.
bool holds(const Value& when, std::string_view key);

}  // namespace trainyard::launch
