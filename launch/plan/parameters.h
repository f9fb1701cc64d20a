// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "launch/plan/catalogue.h"
#include "launch/plan/draft.h"
#include "launch/plan/plan.h"
#include "launch/plan/strategy_rules.h"

namespace trainyard::launch {

/// The name of the plugin to which the keys of [run] belong.
inline constexpr const char* kManagerPlugin = "strategy_manager";

/// What follows from the parameters for the rest of the plan.
struct PlannedParameters {
  StrategyNeeds needs;
  std::vector<Choice> choices;
  std::vector<std::string> warnings;
};

/// Returns everything that the file gives to one component, each value with the place where it was written: its own
/// `params`, then what [topology] gives to the components that declare it, and [run] for the strategy manager.
Given gather_parameters(const LaunchFile& file, const Draft& draft);

/// Fills in the parameters of every draft: its own `params`, what [topology] gives to the components that declare it,
/// and [run] for the strategy manager. Settles what is left open (automatic.h), and checks every value against its
/// declaration, including those of plugins inside parameters.
///
/// Throws, with the place in the file, for unknown names, for values that are not allowed, for required ones that are
/// missing, for what the rules of an accelerator or a strategy forbid, for parameters to which the component itself
/// objects, and for keys of [run] or [topology] that no component takes.
///
/// If the strategy needs the same data for all ranks, the loaders that can be told have been told.
PlannedParameters plan_parameters(const LaunchFile& file, std::vector<Draft>& drafts, Catalogue& catalogue);

}  // namespace trainyard::launch
