// SPDX-License-Identifier: Apache-2.0
#include "environments/variable_reader.h"

#include <algorithm>
#include <charconv>

#include "environments/allocation.h"
#include "messages/error.h"
#include "messages/printable.h"

namespace trainyard::environments {

std::string_view VariableReader::text(std::string_view name) const {
  const auto found = facts_.variables.find(name);
  return found == facts_.variables.end() ? std::string_view() : found->second;
}

std::string VariableReader::required_text(std::string_view name) const {
  if (!has(name)) throw Error(Code::kNotFound, "{}: the variable {} is not set", where_, name);
  return std::string(text(name));
}

std::optional<std::uint32_t> VariableReader::number(std::string_view name, std::uint32_t lowest,
                                                    std::uint32_t highest) const {
  if (!has(name)) return {};
  const std::optional<std::uint32_t> value = parse_number(text(name), lowest, highest);
  if (value) return value;
  throw Error(Code::kInvalidArgument, "{}: {} is {}; allowed: a whole number from {} to {}", where_, name,
              shown(text(name)), lowest, highest);
}

std::uint32_t VariableReader::required_number(std::string_view name, std::uint32_t lowest,
                                              std::uint32_t highest) const {
  required_text(name);
  return *number(name, lowest, highest);
}

std::uint32_t VariableReader::required_count(std::string_view name) const {
  return required_number(name, 1, kMostHosts);
}

std::uint32_t VariableReader::required_index(std::string_view name, std::uint32_t count) const {
  return required_number(name, 0, std::max(count, 1u) - 1);
}

std::optional<std::uint32_t> parse_number(std::string_view text, std::uint32_t lowest, std::uint32_t highest) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < lowest || value > highest) return {};
  return value;
}

std::string shown(std::string_view text, bool quoted) {
  constexpr std::size_t kMost = 80;
  const std::string line = printable_line(text.substr(0, kMost)) + (text.size() > kMost ? "..." : "");
  return quoted ? "'" + line + "'" : line;
}

}  // namespace trainyard::environments
