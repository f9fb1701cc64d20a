// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "components/checkpoint_writer/state_layout.h"
#include "messages/arena.h"

namespace trainyard {

/// The memory that the ranks have announced: the arena of each rank and, if the run has an optimizer, the optimizer's
/// state.
class AnnouncedMemory {
 public:
  explicit AnnouncedMemory(std::uint32_t ranks) : arenas_(ranks), states_(ranks) {}

  /// Record a rank's message. Throw kInternal for a rank that does not exist.
  void add(std::shared_ptr<const ArenaInfo> arena);
  void add(std::shared_ptr<const OptimizerState> state);

  /// Returns how the memory of all ranks is divided into tensors; see make_state_layout. Every rank must have announced
  /// its arena.
  StateLayout layout() const;

  /// Returns the memory of rank 0, for properties that are the same on all ranks. Rank 0 must have announced its arena.
  RankState first() const { return {arenas_.front().get(), states_.front().get()}; }

 private:
  // These are indexed by rank; an entry is null until the message has arrived.
  std::vector<std::shared_ptr<const ArenaInfo>> arenas_;
  std::vector<std::shared_ptr<const OptimizerState>> states_;
};

}  // namespace trainyard
