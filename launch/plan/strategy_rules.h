// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "launch/plan/catalogue.h"
#include "launch/plan/draft.h"

namespace trainyard::launch {

/// What the strategy of a run requires of the rest of the plan. Every accelerator host (the component that computes
/// losses and gradients) names the strategy in its parameters, and other components can name it, too.
struct StrategyNeeds {
  std::string one_process;  ///< The name of a strategy that needs all ranks in one process; empty if there is none.
  bool same_data = false;   ///< True if all ranks must get the same batches.
};

/// Throws if the strategy of `draft` (a component while it is being planned) does not support the number of ranks, or
/// several hosts. Otherwise adds the requirements of the strategy to `needs`. The traits of the strategy may come from
/// the cache of an earlier launch; before a plan is refused, the strategy itself is queried again. The error gives the
/// position in the file, the number of ranks, and the numbers that are allowed:
///
///    a.toml:4: topology.devices: 2 ranks are not allowed with the strategy single_device, which serves 1
///
/// settle_automatic() must already have replaced "auto" in the draft's parameters. A component that declares no
/// strategy is accepted.
void check_strategy_rules(const LaunchFile& file, const Draft& draft, Catalogue& catalogue, StrategyNeeds& needs);

/// Throws if the strategy needs all ranks in one process but place() has put them in several.
void check_one_process(const LaunchFile& file, const std::vector<Draft>& drafts, const StrategyNeeds& needs);

}  // namespace trainyard::launch
