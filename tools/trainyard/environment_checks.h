// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "environments/process_facts.h"
#include "tools/trainyard/system_checks.h"

namespace trainyard::tools {

/// Returns which environment fits this process, and why, for `trainyard doctor`. If what the engine says is incomplete
/// or contradictory, this is a bad finding. Does not throw.
SystemCheck check_environment(const ProcessFacts& facts);

/// Returns everything that the environment says, and why the other environments do not fit, for `trainyard doctor
/// --environment`. Does not throw.
std::vector<SystemCheck> examine_environment(const ProcessFacts& facts);

}  // namespace trainyard::tools
