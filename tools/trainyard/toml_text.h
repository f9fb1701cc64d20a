// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace trainyard::tools {

/// Returns a JSON value as a TOML value on one line. TOML has no null, so entries of tables that are null are left out.
/// Throws kUnsupported if null occurs elsewhere.
std::string toml_value(const nlohmann::json& value);

/// Returns a name as a TOML key, quoted if necessary.
std::string toml_key(std::string_view name);

}  // namespace trainyard::tools
