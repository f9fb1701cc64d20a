#pragma once

#include <vector>

#include "launch/plan/draft.h"
#include "launch/plan/plan.h"
#include "launch/plan/strategy_rules.h"

namespace trainyard::launch {

/// Gives every draft its process and thread. Stronger first: the component's own `process`, an explicit placement
/// table, a process of its own (placement "processes", or an address as `host`), the process of its rank (placement
/// "ranks", which several ranks have by themselves unless their strategy keeps them together), the process "main". The
/// thread is the component's own `thread`, else what its plugin asks for. Throws for components that do not exist, for
/// two different words about one component, and for ranks apart that the strategy wants in one process.
void place(const LaunchFile& file, std::vector<Draft>& drafts, const StrategyNeeds& needs);

/// The processes of the placed drafts in order of their first component, then the external programs. What components of
/// one process say together: environments are joined, it is respawned only as far as all of them allow, it is required
/// if one of them is. Throws where they contradict each other.
std::vector<PlannedProcess> plan_processes(const LaunchFile& file, const std::vector<Draft>& drafts);

}  // namespace trainyard::launch
