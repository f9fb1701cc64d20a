// SPDX-License-Identifier: Apache-2.0
#include "launch/file/table_reader.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "messages/nearest.h"

namespace trainyard::launch {

// There is one function for each type of value. All have the same structure: if the key is missing, they return the
// fallback; if the value has another type or is not allowed, they throw an error with the position and what is allowed.

namespace {

constexpr std::size_t kMaxNameBytes = 64;

/// Returns true for a character that a name may contain. std::isalnum() is not used, because it depends on the locale.
bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

}  // namespace

const Value::Table& table_of(const Value& value, std::string_view key) {
  if (const auto* table = value.get_if<Value::Table>()) return *table;
  throw not_allowed(value, key, "a table");
}

// Names become parts of topics, socket files and process names, so only characters that are allowed in all of these are
// allowed.
void check_name(const Value& value, std::string_view key, const std::string& name) {
  const bool starts_well = !name.empty() && name.front() != '-' && (name.front() < '0' || name.front() > '9');
  if (starts_well && name.size() <= kMaxNameBytes && std::ranges::all_of(name, is_name_character)) return;
  throw error_at(value.origin, key,
                 fmt::format("\"{}\" is not a name; letters, digits, '_' and '-', at most {}, the first one no digit",
                             name.substr(0, kMaxNameBytes), kMaxNameBytes));
}

TableReader::TableReader(const Value& value, std::string path) : value_(value), path_(std::move(path)) {
  table_of(value, path_);
}

// Reports only the first unknown key, in alphabetical order.
TableReader::TableReader(const Value& value, std::string path, const std::vector<std::string>& known)
    : TableReader(value, std::move(path)) {
  for (const auto& [name, element] : table_of(value, path_)) {
    if (std::ranges::find(known, name) != known.end()) continue;
    throw error_at(element.origin, key(name.substr(0, kMaxNameBytes)), "unknown key" + suggestion(name, known));
  }
}

std::string TableReader::text(const std::string& name, std::string fallback) const {
  const Value* value = find(name);
  if (value == nullptr) return fallback;
  if (const auto* text = value->get_if<std::string>()) return *text;
  throw not_allowed(*value, key(name), "a string");
}

std::string TableReader::name(const std::string& name, std::string fallback) const {
  if (!has(name)) return fallback;
  std::string given = text(name, "");
  check_name(*find(name), key(name), given);
  return given;
}

std::string TableReader::one_of(const std::string& name, const std::vector<std::string>& choices,
                                std::string fallback) const {
  const Value* value = find(name);
  if (value == nullptr) return fallback;
  const auto* text = value->get_if<std::string>();
  if (text != nullptr && std::ranges::find(choices, *text) != choices.end()) return *text;
  // The error lists all choices, because there are few, and repeats the most similar one.
  const std::string meant = text == nullptr ? "" : nearest(*text, choices);
  throw not_allowed(*value, key(name),
                    fmt::format("one of: {}{}", fmt::join(choices, ", "),
                                meant.empty() ? "" : fmt::format("; did you mean '{}'?", meant)));
}

bool TableReader::flag(const std::string& name, bool fallback) const {
  const Value* value = find(name);
  if (value == nullptr) return fallback;
  if (const auto* flag = value->get_if<bool>()) return *flag;
  throw not_allowed(*value, key(name), "true or false");
}

std::int64_t TableReader::integer(const std::string& name, std::int64_t fallback, std::int64_t minimum,
                                  std::int64_t maximum) const {
  const Value* value = find(name);
  if (value == nullptr) return fallback;
  const auto* integer = value->get_if<std::int64_t>();
  if (integer != nullptr && *integer >= minimum && *integer <= maximum) return *integer;
  // The error shows the upper bound only if there is one.
  std::string allowed = fmt::format("an integer >= {}", minimum);
  if (maximum != std::numeric_limits<std::int64_t>::max()) allowed += fmt::format(" and <= {}", maximum);
  throw not_allowed(*value, key(name), allowed);
}

// Accepts an integer as well, because a user may write 30 instead of 30.0.
double TableReader::seconds(const std::string& name, double fallback, bool may_be_zero) const {
  const Value* value = find(name);
  if (value == nullptr) return fallback;
  const auto* integer = value->get_if<std::int64_t>();
  const auto* number = value->get_if<double>();
  const double given = integer != nullptr ? static_cast<double>(*integer) : number != nullptr ? *number : -1;
  const bool enough = may_be_zero ? given >= 0 : given > 0;
  if (enough && given <= kMaxMilliseconds / 1000.0) return given;
  throw not_allowed(*value, key(name),
                    fmt::format("a number {} 0 and <= {}", may_be_zero ? ">=" : ">", kMaxMilliseconds / 1000));
}

// The error about an element of another type points to the element and not to the list.
std::vector<std::string> TableReader::texts(const std::string& name) const {
  const Value* value = find(name);
  if (value == nullptr) return {};
  std::vector<std::string> out;
  const auto* list = value->get_if<Value::List>();
  if (list == nullptr) throw not_allowed(*value, key(name), "a list of strings");
  for (const Value& element : *list) {
    const auto* text = element.get_if<std::string>();
    if (text == nullptr) throw not_allowed(element, key(name), "a list of strings");
    out.push_back(*text);
  }
  return out;
}

// The limit is far above the number of CPUs of any machine. It prevents a 64-bit number from being truncated to a
// different index.
std::vector<std::uint32_t> TableReader::indices(const std::string& name) const {
  const Value* value = find(name);
  if (value == nullptr) return {};
  std::vector<std::uint32_t> out;
  const auto* list = value->get_if<Value::List>();
  if (list == nullptr) throw not_allowed(*value, key(name), "a list of integers >= 0");
  for (const Value& element : *list) {
    const auto* index = element.get_if<std::int64_t>();
    constexpr std::int64_t kMost = 65'535;
    if (index == nullptr || *index < 0 || *index > kMost) {
      throw not_allowed(element, key(name), "a list of integers >= 0");
    }
    out.push_back(static_cast<std::uint32_t>(*index));
  }
  return out;
}

std::map<std::string, std::string> TableReader::text_table(const std::string& name) const {
  std::map<std::string, std::string> out;
  const Value* value = find(name);
  if (value == nullptr) return out;
  for (const auto& [entry, element] : table_of(*value, key(name))) {
    const auto* text = element.get_if<std::string>();
    if (text == nullptr) throw not_allowed(element, join_key(key(name), entry), "a string");
    out[entry] = *text;
  }
  return out;
}

// Refuses names with '=' and texts with zero bytes, because execve() would interpret them differently.
std::map<std::string, std::string> read_environment(const TableReader& table) {
  std::map<std::string, std::string> environment = table.text_table("environment");
  for (const auto& [name, value] : environment) {
    if (!name.empty() && (name + value).find('\0') == std::string::npos && name.find('=') == std::string::npos)
      continue;
    throw error_at(table.find("environment")->origin, join_key(table.key("environment"), name),
                   "cannot be a variable; names without '=', values without zero bytes");
  }
  return environment;
}

}  // namespace trainyard::launch
