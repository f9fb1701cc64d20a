// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "launch/file/value.h"

namespace trainyard::launch {

/// Returns the table that is written in `text`. `file` is for errors: syntax errors of TOML become an Error with file
/// and line.
Value read_toml(std::string_view text, const std::string& file);

/// Returns a value from the command line: TOML if it reads as such (12, 0.1, true, [1, 2], "quoted"), otherwise a
/// string.
Value read_command_line_value(const std::string& text);

}  // namespace trainyard::launch
