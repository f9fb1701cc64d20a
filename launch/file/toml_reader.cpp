// SPDX-License-Identifier: Apache-2.0
#include "launch/file/toml_reader.h"

// Only this file includes the TOML library, which is header-only and slow to compile.
#include <toml++/toml.h>

#include <cmath>

#include "launch/file/text_guard.h"

namespace trainyard::launch {
namespace {

Value convert(const toml::node& node, const Origin& outer);

/// Returns the position of a node. A table that exists only because of a dotted key has no position in the file, so it
/// gets that of the outer table.
Origin origin_of(const toml::node& node, const Origin& outer) {
  const std::uint32_t line = node.source().begin.line;
  return {outer.file, line == 0 ? outer.line : line};
}

Value convert_table(const toml::table& table, const Origin& origin) {
  Value::Table out;
  for (const auto& [key, element] : table) out.emplace(std::string(key.str()), convert(element, origin));
  return {std::move(out), origin};
}

Value convert_list(const toml::array& array, const Origin& origin) {
  Value::List out;
  for (const toml::node& element : array) out.push_back(convert(element, origin));
  return {std::move(out), origin};
}

/// Throws for infinity and NaN, because parameters are sent as JSON, which cannot represent them.
Value convert_number(double number, const Origin& origin) {
  if (std::isfinite(number)) return {number, origin};
  throw error_at(origin, "", fmt::format("{} is not allowed; a finite number", number));
}

// The recursion is safe, because check_text_limits() has limited the depth.
Value convert(const toml::node& node, const Origin& outer) {
  const Origin origin = origin_of(node, outer);
  if (const auto* table = node.as_table()) return convert_table(*table, origin);
  if (const auto* array = node.as_array()) return convert_list(*array, origin);
  if (const auto* text = node.as_string()) return {text->get(), origin};
  if (const auto* integer = node.as_integer()) return {integer->get(), origin};
  if (const auto* number = node.as_floating_point()) return convert_number(number->get(), origin);
  if (const auto* flag = node.as_boolean()) return {flag->get(), origin};
  throw error_at(origin, "", "dates and times are not allowed; write them as strings");
}

}  // namespace

/// Returns a hint for the error about a value that begins with a letter: its quotation marks are missing, or it is a
/// word of Python such as True.
const char* hint(std::string_view description) {
  const auto says = [description](const char* words) { return description.find(words) != std::string_view::npos; };
  if (says("could not determine value type")) return "; text needs quotes: \"...\"";
  if (says("expected 'true'") || says("expected 'false'")) return "; allowed: true, false, or text in quotes";
  return "";
}

Value read_toml(std::string_view text, const std::string& file) {
  check_text_limits(text, file);
  try {
    return convert(toml::parse(text, std::string_view(file)), {file, 1});
  } catch (const toml::parse_error& error) {
    // The exception of the library is converted to an Error.
    throw error_at({file, error.source().begin.line}, "", std::string(error.description()) + hint(error.description()));
  }
}

Value read_command_line_value(const std::string& text) {
  Value literal{text, {}};
  // A text with a line break or '#' is taken literally. A line break could begin another value, and '#' a comment.
  if (text.size() > kMaxFileBytes || text.find_first_of("\n#") != std::string::npos) return literal;
  try {
    Value read = read_toml("value = " + text, "");
    Value::Table& table = std::get<Value::Table>(read.data);
    return std::move(table.at("value"));
  } catch (const Error&) {
    // The text is not a TOML value, so it becomes a string. So `name=my run` needs no quotation marks other than those
    // of the shell.
    return literal;
  }
}

}  // namespace trainyard::launch
