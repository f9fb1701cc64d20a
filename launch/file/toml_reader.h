#pragma once

#include <string>
#include <string_view>

#include "launch/file/value.h"

namespace trainyard::launch {

/// The table that is written in `text`. `file` is for errors: those of the TOML syntax become Error with file and line.
Value read_toml(std::string_view text, const std::string& file);

/// A value as it comes from the command line: TOML if it reads as such (12, 0.1, true, [1, 2], "quoted"), else a
/// string.
Value read_command_line_value(const std::string& text);

}  // namespace trainyard::launch
