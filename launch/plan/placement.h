// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "launch/plan/draft.h"
#include "launch/plan/plan.h"
#include "launch/plan/strategy_rules.h"

namespace trainyard::launch {

/// Gives every draft its process and thread. The process is the first of these that applies: the component's own
/// `process`; an explicit placement table; a process of its own (placement "processes", or an address as `host`); the
/// process of its rank (placement "ranks"); the process "main". The thread is the component's own `thread`, otherwise
/// what its plugin asks for.
///
/// Throws for components that do not exist, for two different words about one component, for ranks in different
/// processes whose strategy needs them in one, and for a `respawn` of a component that is not restartable.
void place(const LaunchFile& file, std::vector<Draft>& drafts, const StrategyNeeds& needs, Placement placement);

/// Returns the processes of the placed drafts in the order of their first component, then the external programs. The
/// settings of the components of one process are combined: environments are joined, the process is respawned only as
/// far as all of them allow, and it is required if one of them is. Throws where they contradict each other.
std::vector<PlannedProcess> plan_processes(const LaunchFile& file, const std::vector<Draft>& drafts);

}  // namespace trainyard::launch
