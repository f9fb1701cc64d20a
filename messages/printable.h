// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace trainyard {

/// Returns `text` with all control characters other than line feed and tab replaced by '?', so that text from an
/// untrusted source cannot control the terminal.
std::string printable(std::string_view text);

/// Returns `text` with all control characters, including line feeds and tabs, replaced by '?'. It is meant for text
/// that must stay on one line, such as a name.
std::string printable_line(std::string_view text);

}  // namespace trainyard
