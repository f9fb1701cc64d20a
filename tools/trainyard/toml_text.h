// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace trainyard::tools {

/// Returns a JSON value as a TOML value on one line. TOML has no null, so null entries of tables are left out. Throws
/// kUnsupported for null elsewhere.
std::string toml_value(const nlohmann::json& value);

/// Returns a name as a TOML key, with quotes if it needs them.
std::string toml_key(std::string_view name);

}  // namespace trainyard::tools
