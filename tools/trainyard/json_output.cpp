// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/json_output.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace trainyard::tools {

using nlohmann::ordered_json;

void print_json(const ordered_json& value) {
  std::printf("%s\n", value.dump(2, ' ', false, ordered_json::error_handler_t::replace).c_str());
}

ordered_json json_number(double value) { return std::isfinite(value) ? ordered_json(value) : ordered_json(); }

}  // namespace trainyard::tools
