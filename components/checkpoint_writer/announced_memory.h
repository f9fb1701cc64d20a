// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "components/checkpoint_writer/state_layout.h"
#include "messages/arena.h"

namespace trainyard {

/// The memory that the ranks have announced: the arena of every rank, and its optimizer's state if the run has an
/// optimizer.
class AnnouncedMemory {
 public:
  explicit AnnouncedMemory(std::uint32_t ranks) : arenas_(ranks), states_(ranks) {}

  /// Record the announcement of one rank. Throw kInternal for a rank that does not exist.
  void add(std::shared_ptr<const ArenaInfo> arena);
  void add(std::shared_ptr<const OptimizerState> state);

  /// Returns the division of the announced memory into tensors; see make_state_layout(). Every rank must have announced
  /// its arena.
  StateLayout layout() const;

  /// Returns the announcements of rank 0, for facts that are the same on all ranks. Rank 0 must have announced its
  /// arena.
  RankState first() const { return {arenas_.front().get(), states_.front().get()}; }

 private:
  // These are indexed by rank; an entry is null until the message has arrived.
  std::vector<std::shared_ptr<const ArenaInfo>> arenas_;
  std::vector<std::shared_ptr<const OptimizerState>> states_;
};

}  // namespace trainyard
