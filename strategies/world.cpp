// SPDX-License-Identifier: Apache-2.0
#include "strategies/world.h"

#include <utility>

namespace trainyard {

World::World(const PluginContext& context, PluginSpec collective, std::chrono::milliseconds timeout)
    : RankGroup(context.world_size == 1 ? nullptr : make_world(context, "world", collective, timeout)),
      context_(context),
      plugin_(std::move(collective)),
      timeout_(timeout) {}

RankGroup World::make_group(const std::string& name, const std::vector<std::uint32_t>& ranks) {
  CollectiveContext group;
  static_cast<PluginContext&>(group) = context_;
  group.name = name;
  group.ranks = ranks;
  group.timeout = timeout_;
  RankGroup& made = groups_.emplace_back(make_collective(plugin_, group));
  made.count_copies(link_bytes());
  return made;
}

// Other ranks may be waiting for this rank in any of the groups, not only in the world.
void World::abort(const std::string& reason) noexcept {
  RankGroup::abort(reason);
  for (RankGroup& group : groups_) group.abort(reason);
}

}  // namespace trainyard
