// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "components/checkpoint_writer/state_layout.h"
#include "messages/arena.h"

namespace trainyard {

/// Collects what every rank announces of its memory: its arena, and the optimizer's state if the run has an optimizer.
class AnnouncedMemory {
 public:
  explicit AnnouncedMemory(std::uint32_t ranks) : arenas_(ranks), states_(ranks) {}

  /// Record what a rank has announced. Throw kInternal for a rank that does not exist.
  void add(std::shared_ptr<const ArenaInfo> arena);
  void add(std::shared_ptr<const OptimizerState> state);

  /// Returns how the memory of all ranks is cut into tensors; see make_state_layout. Every rank must have announced its
  /// arena.
  StateLayout layout() const;

  /// Returns the memory of rank 0, which stands for what all ranks have in common. It must have announced its arena.
  RankState first() const { return {arenas_.front().get(), states_.front().get()}; }

 private:
  // These are indexed by rank; an entry is null until the message has arrived.
  std::vector<std::shared_ptr<const ArenaInfo>> arenas_;
  std::vector<std::shared_ptr<const OptimizerState>> states_;
};

}  // namespace trainyard
