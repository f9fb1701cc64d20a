// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/submit/yaml_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "messages/error.h"
#include "messages/printable.h"

namespace trainyard::tools::submit {
namespace {

using Json = nlohmann::ordered_json;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Returns true for words that readers of YAML 1.1 interpret as a boolean or null, in lower or upper case.
bool has_a_meaning(std::string_view text) {
  constexpr std::array<std::string_view, 10> kWords{"true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan"};
  std::string small(text);
  std::ranges::transform(small, small.begin(),
                         [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
  return std::ranges::find(kWords, small) != kWords.end();
}

/// Returns true if the text needs no quotes: it begins with a letter and contains only characters that have no special
/// meaning in YAML. All other texts are quoted.
bool is_plain_scalar(std::string_view text) {
  const auto allowed = [](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || std::string_view("_./-").find(c) != std::string_view::npos;
  };
  return !text.empty() && (is_letter(text.front()) || text.front() == '/') && std::ranges::all_of(text, allowed) &&
         !has_a_meaning(text);
}

/// Replaces surrogate pairs, with which JSON writes characters beyond U+FFFF, by a single YAML escape, because YAML
/// does not know surrogates.
std::string without_surrogates(const std::string& quoted) {
  std::string text;
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    const std::size_t length = quoted[i] != '\\' ? 1 : quoted[i + 1] == 'u' ? 6 : 2;
    const unsigned long high = length == 6 ? std::stoul(quoted.substr(i + 2, 4), nullptr, 16) : 0;
    if (high < 0xd800 || high > 0xdbff) {
      text += quoted.substr(i, length);
    } else {
      i += length;
      const unsigned long low = std::stoul(quoted.substr(i + 2, 4), nullptr, 16);
      text += fmt::format("\\U{:08x}", 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
    }
    i += length - 1;
  }
  return text;
}

std::string scalar(const Json& value) {
  return value.is_string() ? yaml_scalar(value.get_ref<const std::string&>()) : value.dump();
}

void append(std::string& text, const Json& value, std::size_t indent);

/// Appends the value after "key:" or "-": a scalar on the same line, or a block on the following lines.
void append_value(std::string& text, const Json& value, std::size_t indent) {
  if (value.is_structured() && !value.empty()) {
    text += '\n';
    append(text, value, indent);
  } else {
    text += ' ' + scalar(value) + '\n';
  }
}

/// Appends an entry of a list. If the entry is a table, its first key is on the line of the dash.
void append_entry(std::string& text, const Json& entry, std::size_t indent) {
  const std::string margin(indent, ' ');
  if (!entry.is_object() || entry.empty()) {
    text += margin + '-';
    return append_value(text, entry, indent + 2);
  }
  std::string block;
  append(block, entry, indent + 2);
  block.replace(indent, 1, "-");
  text += block;
}

void append(std::string& text, const Json& value, std::size_t indent) {
  const std::string margin(indent, ' ');
  if (value.is_array()) {
    for (const Json& entry : value) append_entry(text, entry, indent);
    return;
  }
  for (const auto& [key, below] : value.items()) {
    text += margin + yaml_scalar(key) + ':';
    append_value(text, below, indent + 2);
  }
}

}  // namespace

// Apart from surrogates, a JSON string that contains only ASCII characters is also a double-quoted YAML scalar.
std::string yaml_scalar(std::string_view text) {
  if (is_plain_scalar(text)) return std::string(text);
  try {
    return without_surrogates(nlohmann::json(text).dump(-1, ' ', /*ensure_ascii=*/true));
  } catch (const nlohmann::json::exception&) {
    throw Error(Code::kInvalidArgument, "'{}' is not UTF-8, so it cannot be in a manifest", printable_line(text));
  }
}

std::string yaml_text(const Json& value) {
  std::string text;
  append(text, value, 0);
  return text;
}

}  // namespace trainyard::tools::submit
