// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/plugin/plugin_info.h"
#include "launch/file/launch_file.h"
#include "launch/plan/given_parameter.h"
#include "launch/plan/member.h"
#include "messages/plan.h"

namespace trainyard::launch {

/// A component while it is being planned. The steps of the planner fill in `plan` one after another. The launch file,
/// the catalogue and the declarations of members must outlive the draft.
struct Draft {
  const ComponentSpec* spec = nullptr;
  const core::PluginInfo* info = nullptr;
  std::string rank_name;       ///< For example "rank0"; empty for a single rank and for components that exist once.
  Given given;                 ///< The parameters that the file gives to the component, with their positions.
  std::uint32_t host = 0;      ///< The number of the host on which the component runs.
  std::uint32_t hosts = 1;     ///< The number of hosts of the run.
  std::uint32_t launches = 1;  ///< The number of hosts of the run on each machine; see RunHosts.
  ComponentPlan plan;
};

/// Throws kInvalidArgument if the component is to be pinned to a CPU that this machine does not have. Without this
/// check, the kernel would refuse the pinning while the run starts.
void check_cpus(const ComponentSpec& spec);

class Catalogue;
/// Returns a draft for every component of the file, with its name and index; external programs have none. A component
/// that exists for each rank has `world_size` drafts. Throws, with the position in the file, for plugins that do not
/// exist. `members` contains the declarations of all members of the file.
std::vector<Draft> draft_components(const LaunchFile& file, std::uint32_t world_size, Catalogue& catalogue,
                                    const MemberDeclarations& members = {});

}  // namespace trainyard::launch
