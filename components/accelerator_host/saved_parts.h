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

/// Saves and restores the state of a rank that a checkpoint stores besides the parameters: the random numbers, the
/// parts that are passed to the constructor, and, in a run with several ranks, the rank's own copy of the model's
/// buffers.
///
/// A checkpoint contains the buffers of rank 0 together with the parameters. The buffers of other ranks can differ, for
/// example if they are running means over the samples of a rank, so they are saved in addition. They are restored only
/// if the strategy and the number of ranks have not changed.
class SavedParts {
 public:
  /// An object with state, and the name under which a checkpoint stores this state.
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

  /// Returns the states for a checkpoint.
  std::vector<SavedState> save();

  /// Keeps the states of a checkpoint until restore() is called. Returns the names of the states that this object can
  /// restore.
  std::vector<std::string> keep(const RestoredStates& states);

  /// Restores the states passed to keep(). Does nothing if keep() was not called. If the checkpoint contains no random
  /// state for this rank, a new sequence of random numbers begins.
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
