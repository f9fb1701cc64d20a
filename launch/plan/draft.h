#pragma once

#include <string>
#include <vector>

#include "core/plugin/plugin_info.h"
#include "launch/file/launch_file.h"
#include "messages/plan.h"

namespace trainyard::launch {

/// A component on its way into the plan: the steps of the planner fill in `plan` one after another. Lives as long as
/// the launch file and the catalogue.
struct Draft {
  const ComponentSpec* spec = nullptr;
  const core::PluginInfo* info = nullptr;
  std::string rank_name;  ///< "rank0"; empty if there is one rank or the component is not made per rank.
  ComponentPlan plan;
};

/// How many ranks `[topology]` asks for: `devices` as a count or a list; "auto" and -1 are one. Throws for anything
/// else. Whether the strategy serves them is for strategy_rules.h.
std::uint32_t world_size(const TopologySpec& topology);

/// Throws kInvalidArgument if a component is to be pinned to a processor that this machine does not have: the kernel
/// would refuse it in the middle of the start.
void check_cpus(const ComponentSpec& spec);

class Catalogue;
/// The plugin components of the file, per-rank ones once for each rank, with names and indices. Throws, with the place
/// in the file, for plugins that do not exist.
std::vector<Draft> draft_components(const LaunchFile& file, std::uint32_t world_size, Catalogue& catalogue);

}  // namespace trainyard::launch
