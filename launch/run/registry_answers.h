// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "launch/run/run_context.h"
#include "launch/run/run_outcome.h"

namespace trainyard::launch {

// The answers of the registry to questions about a run. Their format is in docs/wire_format.md, "The registry".

/// Returns a description of the run: its names, its launch file, its state, and its processes with their pids.
nlohmann::json describe_run(const RunContext& run, const RunOutcome& outcome);

/// Returns every topic of the run with its type, schema, publishers and their addresses, and the components that
/// receive it. Topics that visitors publish are not included.
nlohmann::json describe_topics(const RunContext& run);

/// Returns every component and every external program, with its state and ports.
nlohmann::json describe_nodes(const RunContext& run);

/// Returns the names of all components, for the suggestions in errors.
std::vector<std::string> component_names(const Plan& plan);

}  // namespace trainyard::launch
