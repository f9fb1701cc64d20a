// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "launch/run/run_context.h"

namespace trainyard::launch {

/// Returns the address of the entrance, the socket through which a visitor (a program outside of the plan) reaches the
/// gateway of a process on another host; see launch/hosts/tunnels.h. `run_directory` is the run directory of the
/// visitor's host, and `process` is the index of the process in the plan.
std::string entrance_address(const std::string& run_directory, std::uint32_t process);

/// Returns true if a host has entrances to the gateways of processes on other hosts. This applies to host 0, where
/// visitors attach, and to every host with a component that listens to the log.
bool has_entrances(const RunContext& run, std::uint32_t host);

/// Returns the address to which visitors on host 0 connect to reach the gateway of a process, or an empty string while
/// the process is not ready.
std::string gateway_address(const RunContext& run, const std::string& process);

/// Returns true if the component has an input that receives the log of all processes.
bool listens_to_log(const RunContext& run, const ComponentPlan& component);

}  // namespace trainyard::launch
