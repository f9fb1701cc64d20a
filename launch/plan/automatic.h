// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "launch/plan/draft.h"
#include "launch/plan/plan.h"
#include "launch/plan/strategy_rules.h"

namespace trainyard::launch {

// Here, and nowhere else, it is decided what a launch file leaves open: the number of ranks, the accelerator, the
// strategy and the placement. Every decision is added to `choices`, so that `trainyard plan` shows what was chosen and
// why. What depends on the processes that run stays "auto" and is not the planner's: a collective is chosen for each
// group of ranks by where its members are.

/// Returns the number of ranks that `[topology]` asks for, and puts it in the place of "auto" and -1: `devices` as a
/// count or a list; "auto" for one rank; -1 for a rank on every device of the accelerator, which for `cpu` means every
/// core that it may use. Throws for anything else. strategy_rules.h checks whether the strategy serves that many.
std::uint32_t settle_ranks(LaunchFile& file, Catalogue& catalogue, std::vector<Choice>& choices);

/// Settles what a draft's given parameters leave open:
///
/// * accelerator = "auto": of those that are available on this machine, the one with the highest auto_rank, the first
///   by name among equals. Throws kNotFound if none is available.
/// * devices = "auto" or -1 in the component's own parameters: as many as there are ranks.
/// * strategy = "auto": single_device for one rank, ddp for several; the same if the file names no strategy and the
///   component's default serves one rank only.
void settle_automatic(Draft& draft, Catalogue& catalogue, std::vector<Choice>& choices);

/// Returns the placement: that of the file; otherwise a process for each rank, unless the strategy needs its ranks in
/// one process or the file places some components itself.
Placement settle_placement(const LaunchFile& file, const StrategyNeeds& needs, std::uint32_t ranks,
                           std::vector<Choice>& choices);

}  // namespace trainyard::launch
