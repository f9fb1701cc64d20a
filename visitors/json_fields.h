// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace trainyard::visitors {

// Functions that read the answers of the programs of a run. These programs may have another version or be written in
// another language, so a key may be missing, or its value may not have the expected type.

/// Returns the string at `key`, or an empty string if the key is missing or its value is not a string.
inline std::string text_in(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

/// Returns the non-negative whole number at `key`, or nothing if the key is missing or has any other value.
inline std::optional<std::uint64_t> count_in(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return {};
  if (!found->is_number_unsigned() && found->get<std::int64_t>() < 0) return {};
  return found->get<std::uint64_t>();
}

}  // namespace trainyard::visitors
