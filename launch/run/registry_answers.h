#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "launch/run/run_context.h"

namespace trainyard::launch {

// What the registry says of a run (docs/wire_format.md, "The registry").

/// The run itself: its names, its file, its processes with their pids.
nlohmann::json describe_run(const RunContext& run);

/// Every topic with its type, its schema, who publishes it and where, who subscribes to it.
nlohmann::json describe_topics(const RunContext& run);

/// Every component, and every external program, with its state and ports.
nlohmann::json describe_nodes(const RunContext& run);

/// Names of all components, for the nearest one in an error.
std::vector<std::string> component_names(const Plan& plan);

}  // namespace trainyard::launch
