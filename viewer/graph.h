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

/// Returns the graph of a run that is over: its components and edges, and what happened on the edges in total, but
/// nothing of what they do.
nlohmann::json graph_at_rest(nlohmann::json graph);

}  // namespace trainyard::viewer
