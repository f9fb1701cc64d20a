// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "launch/plan/draft.h"
#include "launch/plan/plan.h"
#include "launch/plan/strategy_rules.h"

namespace trainyard::launch {

// The planner's decisions about what a launch file leaves open: the number of ranks, the accelerator, the precision,
// the strategy, the placement and, with several hosts, the collective. (On one host, the collective stays "auto" until
// the processes run.) The decisions are added to `choices`, so that `trainyard plan` can show what was chosen and why.

/// The maximum number of ranks of a run. It prevents a mistyped number from producing a huge plan.
inline constexpr std::uint32_t kMostRanks = 4096;

/// Returns the number of ranks that `devices` in `[topology]` requests for each host; 1 if the file does not give
/// `devices`. A count or a list gives the number directly; "auto" means one rank, and -1 means a rank on every device
/// of the accelerator. For the accelerator `cpu`, every core that this process may use counts as a device. "auto" and
/// -1 are replaced in `file` with the number. Throws for any other value, and for more than kMostRanks ranks.
/// check_strategy_rules() checks later whether the strategy supports the number of ranks of the run.
std::uint32_t settle_ranks(LaunchFile& file, Catalogue& catalogue, std::vector<Choice>& choices);

/// Replaces values in the parameters of a draft (a component while it is being planned) that leave a decision open:
///
/// * accelerator = "auto" becomes the available accelerator with the highest priority, which is `auto_priority` in its
///   traits. If several have the same priority, the first by name is chosen. Throws kNotFound if no accelerator is
///   available on this machine.
/// * devices = "auto" or -1, given to the component itself, becomes the number of ranks of its host.
/// * precision = "auto" becomes the accelerator's auto_precision.
/// * strategy = "auto" becomes single_device for one rank and ddp for several. The same choice is made if the file
///   names no strategy, there are several ranks, and the component's default is single_device.
/// * collective = "auto" becomes tcp if the run has several hosts. With several hosts, throws for a collective that
///   works only within one host.
void settle_automatic(Draft& draft, Catalogue& catalogue, std::vector<Choice>& choices);

/// Returns the placement that the file gives as a word. If the file gives none, returns kComposed if the strategy needs
/// all ranks in one process or if the file places some components in a table, and otherwise kRanks. If the run has
/// several ranks, such a decision is added to `choices`. `ranks` is their number.
Placement settle_placement(const LaunchFile& file, const StrategyNeeds& needs, std::uint32_t ranks,
                           std::vector<Choice>& choices);

}  // namespace trainyard::launch
