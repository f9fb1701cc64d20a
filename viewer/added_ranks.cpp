// SPDX-License-Identifier: Apache-2.0
#include "viewer/added_ranks.h"

#include <algorithm>

namespace trainyard::viewer {

bool AddedRanks::add(std::uint32_t rank, std::uint32_t ranks) {
  const bool joins =
      ranks > 1 && ranks == ranks_ && added_.size() < kMost && std::ranges::find(added_, rank) == added_.end();
  if (!joins) added_.clear();
  added_.push_back(rank);
  ranks_ = ranks;
  if (added_.size() >= ranks) *this = {};
  return joins;
}

}  // namespace trainyard::viewer
