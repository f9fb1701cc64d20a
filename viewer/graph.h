// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

namespace trainyard::visitors {
struct Observation;
}

namespace trainyard::viewer {

/// Returns the picture of a run, its components and its edges: the object `graph` of docs/viewer_protocol.md. `now_ns`
/// is the time of the observation, in nanoseconds since 1970.
nlohmann::json graph_of(const visitors::Observation& observation, std::int64_t now_ns);

}  // namespace trainyard::viewer
