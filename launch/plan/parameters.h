// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "launch/plan/catalogue.h"
#include "launch/plan/draft.h"
#include "launch/plan/strategy_rules.h"

namespace trainyard::launch {

/// The name of the plugin to which the keys of [run] belong.
inline constexpr const char* kManagerPlugin = "strategy_manager";

/// Fills in the parameters of every draft: its own `params`, what [topology] gives to the components that declare it,
/// and [run] for the strategy manager. Checks every value against its declaration, including those of plugins inside
/// parameters.
///
/// Throws, with the place in the file, for unknown names, for values that are not allowed, for required ones that are
/// missing, for what the rules of an accelerator or a strategy forbid, and for keys of [run] or [topology] that no
/// component takes.
///
/// Returns what else the strategy needs. If it needs the same data for all ranks, the loaders that can be told have
/// been told.
StrategyNeeds plan_parameters(const LaunchFile& file, std::vector<Draft>& drafts, Catalogue& catalogue);

}  // namespace trainyard::launch
