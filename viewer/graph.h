// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

namespace trainyard::visitors {
struct Observation;
}

namespace trainyard::viewer {

/// Returns the components and the edges of a run, as the object `graph` that docs/viewer_protocol.md describes.
/// `now_ns` is the time of the observation, in nanoseconds since 1970.
nlohmann::json graph_of(const visitors::Observation& observation, std::int64_t now_ns);

/// Converts the last graph of a run to the graph that is shown once the run has ended: with the components, the edges
/// and the totals of the edges, but without their current activity.
nlohmann::json graph_at_rest(nlohmann::json graph);

}  // namespace trainyard::viewer
