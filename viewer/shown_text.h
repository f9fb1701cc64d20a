// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace trainyard::viewer {

/// Returns a foreign text in a form that pages can show: it is cut if it is too long, and control characters other than
/// line feed and tab are replaced.
std::string shown_text(std::string_view text);
/// Does the same for a text that must stay on one line, such as a name.
std::string shown_line(std::string_view text);

}  // namespace trainyard::viewer
