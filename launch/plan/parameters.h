#pragma once

#include <vector>

#include "launch/plan/catalogue.h"
#include "launch/plan/draft.h"
#include "launch/plan/strategy_rules.h"

namespace trainyard::launch {

/// Name of the plugin that the keys of [run] are for.
inline constexpr const char* kManagerPlugin = "strategy_manager";

/// Fills in the parameters of every draft: its own `params`, what [topology] gives to the components that declare it,
/// and [run] for the strategy manager. Checks every value against its declaration, those of plugins inside parameters
/// too. Throws, with the place in the file, for unknown names, values that are not allowed, required ones that are
/// missing, for what an accelerator's or a strategy's rules forbid, and keys of [run] or [topology] that nobody takes.
/// Returns what the strategy wants besides; if that is the same data for all ranks, loaders that can be told have been.
StrategyNeeds plan_parameters(const LaunchFile& file, std::vector<Draft>& drafts, Catalogue& catalogue);

}  // namespace trainyard::launch
