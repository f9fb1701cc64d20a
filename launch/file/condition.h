// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "launch/file/value.h"

namespace trainyard::launch {

/// Evaluates the condition `when` of a component, after substitution. A condition is true, false, or a comparison in
/// the form "a == b" or "a != b". The two sides are compared as text, without the spaces around them. Throws for any
/// other value; the error contains the file, the line and `key`. More complex conditions are deliberately not
/// supported.
bool holds(const Value& when, std::string_view key);

}  // namespace trainyard::launch
