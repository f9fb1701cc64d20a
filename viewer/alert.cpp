// SPDX-License-Identifier: Apache-2.0
#include "viewer/alert.h"

#include <nlohmann/json.hpp>

namespace trainyard::viewer {

nlohmann::json json_of(const Alert& alert) {
  return {{"time_ns", alert.time_ns},
          {"step", alert.step},
          {"kind", name_of(alert.kind)},
          {"text", alert.text},
          {"severity", name_of(alert.severity)}};
}

}  // namespace trainyard::viewer
