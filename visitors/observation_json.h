// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace trainyard::visitors {

struct Observation;

/// Returns the observation as JSON for other programs: an object with `components`, `processes`, `edges` and
/// `bottlenecks`. Unknown numbers are null. docs/command_line.md describes the fields.
nlohmann::json to_json(const Observation& observation);

}  // namespace trainyard::visitors
