// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "environments/process_facts.h"
#include "tools/trainyard/system_checks.h"

namespace trainyard::tools {

/// For `trainyard doctor`: returns which engine, such as Slurm or mpirun, has started this process according to
/// `facts`, and how this was found out. The verdict is kBad if the information from the engine is incomplete or
/// contradictory. Does not throw.
SystemCheck check_environment(const ProcessFacts& facts);

/// For `trainyard doctor --environment`: returns everything that the engine has allotted to this process (the hosts,
/// the number of this host, and so on), and the reasons why the plugins for other engines were not chosen. Does not
/// throw.
std::vector<SystemCheck> examine_environment(const ProcessFacts& facts);

}  // namespace trainyard::tools
