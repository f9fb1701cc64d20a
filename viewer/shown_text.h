// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace trainyard::viewer {

/// Returns a text from elsewhere as pages show it: a longer one is cut, and control characters other than line feed and
/// tab are replaced.
std::string shown_text(std::string_view text);
/// The same for a text that must stay on one line, such as a name.
std::string shown_line(std::string_view text);

}  // namespace trainyard::viewer
