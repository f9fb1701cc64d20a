#pragma once

#include <string>
#include <string_view>

namespace trainyard {

/// Text from outside made safe to show: control characters except line feed and tab become '?', so that what a model
/// generates or a stranger's component logs cannot steer the terminal.
std::string printable(std::string_view text);

/// Appends a JSON string with its quotes. Bytes that are no UTF-8 become U+FFFD: a model may generate anything.
void append_json_string(std::string& out, std::string_view text);

/// Appends a number, or null for what JSON has no number for.
void append_json_number(std::string& out, double value);

}  // namespace trainyard
