// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "launch/plan/draft.h"
#include "launch/plan/hosts.h"
#include "launch/plan/plan.h"
#include "launch/plan/strategy_rules.h"

namespace trainyard::launch {

/// Determines the process and the thread of every draft (a component while it is being planned). The process is the
/// first of these that applies: (1) the component's key `process`; (2) its process in the placement table; (3) a
/// separate process if the placement is "processes", if the component is a member (a program in another language), or
/// if `host` is an address or a host other than host 0; (4) the process of its rank if the placement is "ranks"; (5)
/// the process "main". The thread is the component's key `thread`, or else the thread that the plugin declares. For a
/// component that exists for each rank, the name of the rank is put before the name of the thread and, in the cases (1)
/// to (3), before that of the process.
///
/// Throws if the placement table names a component that does not exist or contradicts a component's `process`. Also
/// throws if the strategy needs all ranks in one process but they are in several, if a component with `respawn` is not
/// restartable, or if components on one thread are pinned to different CPUs.
void place(const LaunchFile& file, std::vector<Draft>& drafts, const StrategyNeeds& needs, Placement placement);

/// Returns the processes of the placed drafts, in the order of their first component, followed by the external
/// programs. The settings of all components in a process are combined: their environments are merged, the most
/// restrictive respawn policy applies, and the process is required if any of its components is. Throws if their
/// environments or hosts contradict each other.
std::vector<PlannedProcess> plan_processes(const LaunchFile& file, const std::vector<Draft>& drafts,
                                           const RunHosts& hosts = {});

}  // namespace trainyard::launch
