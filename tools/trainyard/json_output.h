// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace trainyard::tools {

/// Prints a value as indented JSON to stdout. Bytes that are not valid UTF-8 are replaced.
void print_json(const nlohmann::ordered_json& value);

/// Returns the number as JSON, or null if it is infinite or NaN, which JSON cannot represent.
nlohmann::ordered_json json_number(double value);

}  // namespace trainyard::tools
