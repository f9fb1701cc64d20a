// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/plugin/plugin_info.h"
#include "launch/file/launch_file.h"
#include "launch/plan/given_parameter.h"
#include "messages/plan.h"

namespace trainyard::launch {

/// A component that is being planned. The steps of the planner fill in `plan` one after another. The launch file and
/// the catalogue must outlive it.
struct Draft {
  const ComponentSpec* spec = nullptr;
  const core::PluginInfo* info = nullptr;
  std::string rank_name;  ///< For example "rank0"; empty for a single rank and for components that exist once.
  Given given;            ///< Its parameters as the file gives them, each with its place.
  ComponentPlan plan;
};

/// Throws kInvalidArgument if a component is to be pinned to a CPU that this machine does not have, which the kernel
/// would refuse in the middle of the start.
void check_cpus(const ComponentSpec& spec);

class Catalogue;
/// Returns the plugin components of the file with their names and indices; those made per rank appear once for each
/// rank. Throws, with the place in the file, for plugins that do not exist.
std::vector<Draft> draft_components(const LaunchFile& file, std::uint32_t world_size, Catalogue& catalogue);

}  // namespace trainyard::launch
