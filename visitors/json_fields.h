// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace trainyard::visitors {

// What members and launchers answer, which may be of another version or in another language: a key may be missing, or
// have something else in its place.

/// Returns the text of a key, or an empty string if the key has none.
inline std::string text_in(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

/// Returns the value of a key as a whole number, or nothing if the key is missing or its value is not a whole number of
/// at least 0.
inline std::optional<std::uint64_t> count_in(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return {};
  if (!found->is_number_unsigned() && found->get<std::int64_t>() < 0) return {};
  return found->get<std::uint64_t>();
}

}  // namespace trainyard::visitors
