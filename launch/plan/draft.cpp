// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/draft.h"

#include <unistd.h>

#include "launch/plan/catalogue.h"

namespace trainyard::launch {

// In its first step, the planner makes drafts, the components of the run, from the components in the file. If the
// plugin declares that the component exists for each rank, it gets a draft for each rank, otherwise a single draft. All
// later steps work on drafts. They use the file only for the positions of errors and for what it overrides.

namespace {

/// Returns the declaration of a component. Adds the position in the file to errors of the catalogue.
const core::PluginInfo& find_plugin(const ComponentSpec& spec, Catalogue& catalogue,
                                    const MemberDeclarations& members) {
  if (spec.is_member()) return members.at(&spec);
  try {
    return catalogue.info("component", spec.plugin.text);
  } catch (const Error& error) {
    throw error_at(spec.plugin.origin, spec.key + ".plugin", error.what(), error.code());
  }
}

/// Makes the draft of one component. If there is only one rank, its name is left out: "optimizer", not
/// "rank0/optimizer".
Draft make_draft(const ComponentSpec& spec, const core::PluginInfo& info, std::uint32_t rank, std::uint32_t ranks) {
  Draft draft{.spec = &spec, .info = &info};
  if (info.component_traits().per_rank && ranks > 1) draft.rank_name = fmt::format("rank{}", rank);
  draft.plan.name = draft.rank_name.empty() ? spec.name : draft.rank_name + "/" + spec.name;
  draft.plan.plugin = info.label.name;
  draft.plan.library = info.path;
  draft.plan.rank = rank;
  draft.plan.world_size = ranks;
  check_cpus(spec);
  draft.plan.cpus = spec.cpus;
  return draft;
}

}  // namespace

void check_cpus(const ComponentSpec& spec) {
  const long there = ::sysconf(_SC_NPROCESSORS_CONF);
  for (const std::uint32_t cpu : spec.cpus) {
    if (there < 1 || cpu < there) continue;
    throw error_at(spec.origin, spec.key + ".cpus",
                   fmt::format("{} is not allowed; this machine has {}, counted from 0", cpu, there));
  }
}

// The drafts are sorted by name and then by rank. This is also the order of the indices of components.
std::vector<Draft> draft_components(const LaunchFile& file, std::uint32_t world_size, Catalogue& catalogue,
                                    const MemberDeclarations& members) {
  std::vector<Draft> drafts;
  for (const ComponentSpec& spec : file.components) {
    if (spec.is_visitor()) continue;
    const core::PluginInfo& info = find_plugin(spec, catalogue, members);
    for (std::uint32_t rank = 0; rank < (info.component_traits().per_rank ? world_size : 1); ++rank) {
      drafts.push_back(make_draft(spec, info, rank, world_size));
      drafts.back().plan.index = static_cast<std::uint32_t>(drafts.size() - 1);
    }
  }
  return drafts;
}

}  // namespace trainyard::launch
