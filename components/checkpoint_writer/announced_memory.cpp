// SPDX-License-Identifier: Apache-2.0
#include "components/checkpoint_writer/announced_memory.h"

#include <utility>

#include "components/checkpoint_writer/of_rank.h"

namespace trainyard {

void AnnouncedMemory::add(std::shared_ptr<const ArenaInfo> arena) {
  const std::uint32_t rank = arena->rank;
  of_rank(arenas_, rank, "the arena") = std::move(arena);
}

void AnnouncedMemory::add(std::shared_ptr<const OptimizerState> state) {
  const std::uint32_t rank = state->rank;
  of_rank(states_, rank, "the optimizer's state") = std::move(state);
}

StateLayout AnnouncedMemory::layout() const {
  std::vector<RankState> ranks;
  for (std::size_t i = 0; i < arenas_.size(); ++i) ranks.push_back({arenas_[i].get(), states_[i].get()});
  return make_state_layout(ranks);
}

}  // namespace trainyard
