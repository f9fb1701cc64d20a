// SPDX-License-Identifier: Apache-2.0
#include "launch/file/value.h"

#include <nlohmann/json.hpp>

namespace trainyard::launch {

// Values are converted to JSON when they are passed on as parameters or shown.
using nlohmann::json;

const Value* Value::find(const std::string& key) const {
  const Table* table = get_if<Table>();
  if (table == nullptr) return nullptr;
  const auto found = table->find(key);
  return found == table->end() ? nullptr : &found->second;
}

// check_text_limits() limits the depth of the recursion.
json to_json(const Value& value) {
  if (const auto* list = value.get_if<Value::List>()) {
    json out = json::array();
    for (const Value& element : *list) out.push_back(to_json(element));
    return out;
  }
  if (const auto* table = value.get_if<Value::Table>()) {
    json out = json::object();
    for (const auto& [key, element] : *table) out[key] = to_json(element);
    return out;
  }
  if (const auto* flag = value.get_if<bool>()) return *flag;
  if (const auto* integer = value.get_if<std::int64_t>()) return *integer;
  if (const auto* number = value.get_if<double>()) return *number;
  return std::get<std::string>(value.data);
}

// A launch file is always UTF-8, but arguments and environment variables can contain any bytes.
std::string to_json_text(const Value& value, std::string_view key) {
  try {
    return to_json(value).dump();
  } catch (const json::exception&) {
    throw error_at(value.origin, key, "holds text that is not UTF-8");
  }
}

std::string to_text(const Value& value) {
  constexpr std::size_t kMost = 200;
  std::string text = to_json(value).dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > kMost) text.replace(kMost, std::string::npos, "...");
  return text;
}

Error not_allowed(const Value& value, std::string_view key, std::string_view allowed) {
  return error_at(value.origin, key, fmt::format("{} is not allowed; {}", to_text(value), allowed));
}

std::string join_key(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

}  // namespace trainyard::launch
