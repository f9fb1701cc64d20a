// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace trainyard::viewer {

/// Returns a text from an untrusted source in the form in which pages show it: a text longer than 64 KiB is cut, and
/// control characters, except line feed and tab, are replaced with '?'.
std::string shown_text(std::string_view text);
/// Like shown_text(), but for a text that must be on one line, such as a name: line feeds and tabs are replaced, too.
std::string shown_line(std::string_view text);

}  // namespace trainyard::viewer
