#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

namespace trainyard {

/// How deep objects and lists may lie in each other in JSON that comes from outside. No message of ours is near it.
inline constexpr int kMaxJsonDepth = 64;

/// Parses JSON that a stranger may have written. Returns nothing if the text is broken or nests deeper than
/// `kMaxJsonDepth`: printing a value recurses, so a text of 240 KB that only opens brackets would end the process.
std::optional<nlohmann::json> parse_bounded_json(std::string_view text);

}  // namespace trainyard
