// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace trainyard::tools {

/// Prints a value as indented JSON on stdout. Text that is not UTF-8 is replaced where it is not.
void print_json(const nlohmann::ordered_json& value);

/// Returns the number, or null for a value that is not finite, which JSON cannot express.
nlohmann::ordered_json json_number(double value);

}  // namespace trainyard::tools
