// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace trainyard {

/// Makes text from outside safe to show: control characters other than line feed and tab become '?', so that names
/// and texts of strangers cannot control the terminal.
std::string printable(std::string_view text);

/// Does the same for text that belongs on one line: line feeds and tabs become '?' as well, so a name cannot pretend to
/// be several lines.
std::string printable_line(std::string_view text);

}  // namespace trainyard
