#pragma once

#include <map>
#include <string>
#include <vector>

#include "launch/plan/catalogue.h"
#include "launch/plan/draft.h"
#include "launch/plan/parameter_check.h"

namespace trainyard::launch {

/// What the strategies of a run want of the rest of the plan.
struct StrategyNeeds {
  std::string one_process;  ///< The strategy whose ranks share a process; empty: none does.
  bool same_data = false;   ///< All ranks get the same batches.
};

/// The parameter of a component that names its strategy; null if it has none.
const ParameterInfo* find_strategy(const core::PluginInfo& info);

/// Puts a name where the file leaves the choice to Trainyard: "auto", or nothing at all where the plugin's own default
/// has a single rank in mind. One rank gets single_device, several get ddp.
void settle_strategy(const Draft& draft, std::map<std::string, GivenParameter>& given);

/// Refuses a number of ranks that the component's strategy does not serve, with the place in the file, what was given
/// and what is allowed; adds what the strategy wants to `needs`. What was remembered of a strategy is enough to let a
/// plan pass; before anything is refused it is asked anew. A strategy that says nothing of itself serves any number.
///
///     a.toml:4: topology.devices: 2 ranks are not allowed with the strategy single_device, which serves 1
///
/// `given`: the component's parameters, settled. Components that declare no strategy pass.
void check_strategy_rules(const LaunchFile& file, const Draft& draft,
                          const std::map<std::string, GivenParameter>& given, Catalogue& catalogue,
                          StrategyNeeds& needs);

/// Throws if components with a strategy whose ranks share a process were placed in several. Drafts are placed.
void check_one_process(const LaunchFile& file, const std::vector<Draft>& drafts, const StrategyNeeds& needs);

}  // namespace trainyard::launch
