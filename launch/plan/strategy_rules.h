// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "launch/plan/catalogue.h"
#include "launch/plan/draft.h"

namespace trainyard::launch {

/// What the strategies of a run need from the rest of the plan.
struct StrategyNeeds {
  std::string one_process;  ///< The strategy whose ranks share a process; empty if there is none.
  bool same_data = false;   ///< True if all ranks get the same batches.
};

/// Refuses a number of ranks that the component's strategy does not support, with the place in the file, what was given
/// and what is allowed. Adds what the strategy needs to `needs`. Cached traits of a strategy are sufficient to accept a
/// plan; before a plan is refused, the strategy is queried again.
///
///    a.toml:4: topology.devices: 2 ranks are not allowed with the strategy single_device, which serves 1
///
/// The strategy must have been settled in the draft's given parameters. Components that declare no strategy pass.
void check_strategy_rules(const LaunchFile& file, const Draft& draft, Catalogue& catalogue, StrategyNeeds& needs);

/// Throws if components whose strategy needs its ranks in one process were placed in several. The drafts must have been
/// placed.
void check_one_process(const LaunchFile& file, const std::vector<Draft>& drafts, const StrategyNeeds& needs);

}  // namespace trainyard::launch
