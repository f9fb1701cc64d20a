// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace trainyard::tools {

/// Converts a JSON value to a TOML value on one line. TOML has no null, so table entries with the value null are left
/// out. Throws kUnsupported if null occurs elsewhere.
std::string toml_value(const nlohmann::json& value);

/// Returns a name as a TOML key, quoted if necessary.
std::string toml_key(std::string_view name);

}  // namespace trainyard::tools
