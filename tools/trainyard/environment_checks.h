// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "environments/process_facts.h"
#include "tools/trainyard/system_checks.h"

namespace trainyard::tools {

/// Returns, for `trainyard doctor`, which environment fits this process, and why. If the information of the engine is
/// incomplete or contradictory, the verdict is bad. Does not throw.
SystemCheck check_environment(const ProcessFacts& facts);

/// Returns, for `trainyard doctor --environment`, everything that the environment knows, and why the other environments
/// do not fit. Does not throw.
std::vector<SystemCheck> examine_environment(const ProcessFacts& facts);

}  // namespace trainyard::tools
