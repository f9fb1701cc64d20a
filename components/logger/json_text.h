// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace trainyard {

/// Appends `text` as a JSON string, with quotes. Bytes that are not valid UTF-8, which a model can generate, become
/// U+FFFD.
void append_json_string(std::string& out, std::string_view text);

/// Appends a number, or null if JSON has no number for it.
void append_json_number(std::string& out, double value);

}  // namespace trainyard
