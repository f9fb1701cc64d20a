// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace trainyard {

/// Appends `text` as a JSON string, with quotes. Bytes that are not valid UTF-8, which can be in a text that a model
/// has generated, are replaced by U+FFFD.
void append_json_string(std::string& out, std::string_view text);

/// Appends a number, or null if it is infinite or NaN, which JSON cannot represent.
void append_json_number(std::string& out, double value);

}  // namespace trainyard
