// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

namespace trainyard {

/// The maximum nesting of objects and lists in JSON from untrusted sources. Trainyard's own messages need far less.
inline constexpr int kMaxJsonDepth = 64;

/// Parses JSON from an untrusted source. Returns an empty optional if the text is malformed or nested more deeply than
/// `kMaxJsonDepth`. The limit is needed because printing a value is recursive: a text of 240 KB that only opens
/// brackets would overflow the stack.
std::optional<nlohmann::json> parse_bounded_json(std::string_view text);

}  // namespace trainyard
