// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace trainyard::checkpoints {

/// Parses JSON from an untrusted source. Throws kCorrupt, with a text that begins with `where`, for malformed text, for
/// nesting deeper than `max_depth`, and for repeated keys, which two readers could interpret differently.
nlohmann::json parse_strict_json(std::string_view text, const std::string& where, int max_depth = 8);

/// Returns the content of a file. Throws kNotFound if the file does not exist, kIo if it cannot be read, and kCorrupt
/// if it is longer than `max_bytes`.
std::string read_text_file(const std::string& path, std::uint64_t max_bytes = 64 << 20);

/// Each of these three functions returns the member `key` of an object, and throws kCorrupt if the member is missing or
/// has the wrong type; member() accepts any type. The text of the error contains `where` and the value that was found.
std::uint64_t unsigned_member(const nlohmann::json& object, const char* key, const std::string& where);
std::string string_member(const nlohmann::json& object, const char* key, const std::string& where);
const nlohmann::json& member(const nlohmann::json& object, const char* key, const std::string& where);

}  // namespace trainyard::checkpoints
