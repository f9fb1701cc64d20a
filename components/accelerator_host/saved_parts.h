// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "components/accelerator_host/random_numbers.h"
#include "core/state/state.h"
#include "messages/run_state.h"
#include "messages/saved_state.h"
#include "tensors/arena.h"

namespace trainyard {

/// The parts of a rank whose state a checkpoint stores besides the rank's memory: the random numbers, the parts passed
/// to the constructor, and the model's buffers if every rank has its own.
///
/// The blocks of a checkpoint contain only the buffers of rank 0. In a run of several ranks, the buffers of each rank
/// differ, because they are running means of the samples that this rank has seen. Their meaning depends on the
/// strategy, so a checkpoint stores them under the strategy's name.
class SavedParts {
 public:
  /// A part that has state, and the name of this state in checkpoints.
  struct Part {
    std::string owner;
    Stateful* state;
  };

  struct Rank {
    std::uint32_t number = 0;
    std::uint32_t world_size = 1;
    std::string strategy;  ///< The name of the strategy.
  };

  SavedParts(Rank rank, RandomNumbers& random, const Arena& arena, std::vector<Part> parts);

  /// Returns the state of all parts.
  std::vector<SavedState> save();

  /// Keeps the states of a checkpoint until restore(), and returns the owners of the states that restore() uses.
  std::vector<std::string> keep(const RestoredStates& states);

  /// Restores the parts from the states that keep() stored. Does nothing if keep() was not called. If the checkpoint
  /// has no random numbers for this rank, a new sequence begins.
  void restore();

 private:
  bool has_own_buffers() const { return rank_.world_size > 1 && arena_.has_buffers(); }
  std::string buffers_owner() const { return "buffers/" + rank_.strategy; }
  void restore_buffers(const StateReader& from);

  Rank rank_;
  RandomNumbers& random_;
  const Arena& arena_;
  std::vector<Part> parts_;
  std::optional<RestoredStates> kept_;
};

}  // namespace trainyard
