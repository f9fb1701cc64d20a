// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace trainyard::checkpoints {

/// Parses JSON from an untrusted source. It refuses repeated keys, which two readers could interpret differently, and
/// nesting beyond `max_depth`. Throws kCorrupt with a text that begins with `where`.
nlohmann::json parse_strict_json(std::string_view text, const std::string& where, int max_depth = 8);

/// Reads a whole file of at most `max_bytes`. Throws kCorrupt for a longer one.
std::string read_text_file(const std::string& path, std::uint64_t max_bytes = 64 << 20);

/// Return the member `key` of an object. Throw kCorrupt, with `where` and what was found, if the member is missing or
/// of another type.
std::uint64_t unsigned_member(const nlohmann::json& object, const char* key, const std::string& where);
std::string string_member(const nlohmann::json& object, const char* key, const std::string& where);
const nlohmann::json& member(const nlohmann::json& object, const char* key, const std::string& where);

}  // namespace trainyard::checkpoints
