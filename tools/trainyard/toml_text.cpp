// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/toml_text.h"

#include <cctype>

#include "messages/error.h"

namespace trainyard::tools {
namespace {

using nlohmann::json;

/// Returns a TOML string. It is the same as the JSON string, except that TOML also requires the character DEL to be
/// escaped.
std::string quoted_text(std::string_view text) {
  std::string quoted = json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  for (std::size_t at = quoted.find('\x7f'); at != quoted.npos; at = quoted.find('\x7f', at)) {
    quoted.replace(at, 1, "\\u007f");
  }
  return quoted;
}

std::string inline_table(const json& value) {
  std::string text;
  for (const auto& [key, element] : value.items()) {
    if (!element.is_null()) text += (text.empty() ? " " : ", ") + toml_key(key) + " = " + toml_value(element);
  }
  return text.empty() ? "{}" : "{" + text + " }";
}

std::string inline_list(const json& value) {
  std::string text;
  for (const json& element : value) text += (text.empty() ? "" : ", ") + toml_value(element);
  return "[" + text + "]";
}

}  // namespace

std::string toml_value(const json& value) {
  if (value.is_string()) return quoted_text(value.get_ref<const std::string&>());
  if (value.is_object()) return inline_table(value);
  if (value.is_array()) return inline_list(value);
  // JSON and TOML write numbers and booleans in the same way: 1.0, 1e-05, true.
  if (!value.is_null()) return value.dump();
  throw Error(Code::kUnsupported, "null cannot be written as TOML");
}

std::string toml_key(std::string_view name) {
  bool is_bare = !name.empty();
  for (const char c : name) is_bare = is_bare && (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-');
  return is_bare ? std::string(name) : quoted_text(name);
}

}  // namespace trainyard::tools
