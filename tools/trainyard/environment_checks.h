// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "environments/process_facts.h"
#include "tools/trainyard/system_checks.h"

namespace trainyard::tools {

/// For `trainyard doctor`: returns which environment was found for this process, and why. The verdict is kBad if the
/// information from the engine is incomplete or contradictory. Does not throw.
SystemCheck check_environment(const ProcessFacts& facts);

/// For `trainyard doctor --environment`: returns the whole allocation of the environment, and the reasons why the other
/// environments were not chosen. Does not throw.
std::vector<SystemCheck> examine_environment(const ProcessFacts& facts);

}  // namespace trainyard::tools
