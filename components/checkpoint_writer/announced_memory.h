// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "components/checkpoint_writer/state_layout.h"
#include "messages/arena.h"

namespace trainyard {

/// Collects the messages in which the ranks announce the memory from which checkpoints are saved: ArenaInfo for the
/// arena of each rank (its parameters, gradients and buffers), and OptimizerState for the state of its optimizer, if
/// the run has optimizers.
class AnnouncedMemory {
 public:
  explicit AnnouncedMemory(std::uint32_t ranks) : arenas_(ranks), states_(ranks) {}

  /// These functions record the announcement of one rank. They throw kInternal for a rank that does not exist.
  void add(std::shared_ptr<const ArenaInfo> arena);
  void add(std::shared_ptr<const OptimizerState> state);

  /// Returns how the announced memory is divided into the tensors of a checkpoint; see make_state_layout(). The
  /// ArenaInfo of every rank must have been added, and the OptimizerState of every rank if the run has optimizers.
  StateLayout layout() const;

  /// Returns the announcements of rank 0, for facts that are the same on all ranks. The ArenaInfo of rank 0 must have
  /// been added.
  RankState first() const { return {arenas_.front().get(), states_.front().get()}; }

 private:
  // Both are indexed by rank. An entry is null until the message has arrived.
  std::vector<std::shared_ptr<const ArenaInfo>> arenas_;
  std::vector<std::shared_ptr<const OptimizerState>> states_;
};

}  // namespace trainyard
