// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "launch/plan/catalogue.h"
#include "launch/plan/draft.h"
#include "launch/plan/parameter_check.h"

namespace trainyard::launch {

/// What the strategies of a run need from the rest of the plan.
struct StrategyNeeds {
  std::string one_process;  ///< The strategy whose ranks share a process; empty if there is none.
  bool same_data = false;   ///< True if all ranks get the same batches.
};

/// Returns the parameter of a component that names its strategy, or null if it has none.
const ParameterInfo* find_strategy(const core::PluginInfo& info);

/// Sets the strategy where the file leaves the choice to Trainyard: "auto", or nothing at all if the plugin's own
/// default assumes a single rank. One rank gets single_device, several get ddp.
void settle_strategy(const Draft& draft, std::map<std::string, GivenParameter>& given);

/// Refuses a number of ranks that the component's strategy does not support, with the place in the file, what was given
/// and what is allowed. Adds what the strategy needs to `needs`. Cached facts of a strategy are sufficient to accept a
/// plan; before a plan is refused, the strategy is queried again. A strategy without facts supports any number.
///
///    a.toml:4: topology.devices: 2 ranks are not allowed with the strategy single_device, which serves 1
///
/// `given` are the component's parameters, with the strategy set. Components that declare no strategy pass.
void check_strategy_rules(const LaunchFile& file, const Draft& draft,
                          const std::map<std::string, GivenParameter>& given, Catalogue& catalogue,
                          StrategyNeeds& needs);

/// Throws if components whose strategy needs its ranks in one process were placed in several. The drafts must have been
/// placed.
void check_one_process(const LaunchFile& file, const std::vector<Draft>& drafts, const StrategyNeeds& needs);

}  // namespace trainyard::launch
