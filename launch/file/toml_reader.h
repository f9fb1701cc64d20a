// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "launch/file/value.h"

namespace trainyard::launch {

/// Parses a TOML text and returns it as a table. `file` is the name of the file in errors. Throws an Error with the
/// file and the line for a syntax error.
Value read_toml(std::string_view text, const std::string& file);

/// Converts a value from the command line. Text that is a valid TOML value, such as 12, 0.1, true, [1, 2] or "quoted",
/// becomes that value. Any other text becomes a string.
Value read_command_line_value(const std::string& text);

}  // namespace trainyard::launch
