// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "launch/plan/catalogue.h"
#include "launch/plan/draft.h"
#include "launch/plan/plan.h"
#include "launch/plan/strategy_rules.h"

namespace trainyard::launch {

/// The name of the plugin that gets the keys of [run] that the launcher does not use itself.
inline constexpr const char* kManagerPlugin = "strategy_manager";

/// The results of plan_parameters() that the rest of the planner needs.
struct PlannedParameters {
  StrategyNeeds needs;
  std::vector<Choice> choices;
  std::vector<std::string> warnings;
};

/// Returns all parameters that the file gives to one component, with their positions. They are the component's own
/// `params`, the keys of [topology] that the component declares as parameters, and, for the strategy manager, the keys
/// of [run] that the launcher does not use itself. `params` take precedence over [topology]. Throws, with the position
/// in the file, for a key of [run] that the component does not have as a parameter or that `params` gives, too.
Given gather_parameters(const LaunchFile& file, const Draft& draft);

/// Fills in the parameters of every draft (a component while it is being planned), with the values that
/// gather_parameters() returns and the decisions of settle_automatic(). Checks every value against its declaration,
/// including the parameters of plugins that a parameter names.
///
/// Throws, with the position in the file, for parameters that are unknown, invalid, or required but missing. Also
/// throws if a rule of an accelerator or a strategy is broken, if a component objects to its parameters, or if no
/// component declares a key of [run] or [topology] that the file gives.
///
/// If the strategy needs the same data on all ranks, the data loader of every rank is configured to read the whole
/// dataset, as if there were only one shard (the part of the data that one rank reads). Parameters `shard` and `shards`
/// that the file gives take precedence.
PlannedParameters plan_parameters(const LaunchFile& file, std::vector<Draft>& drafts, Catalogue& catalogue);

}  // namespace trainyard::launch
