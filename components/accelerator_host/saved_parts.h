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

/// The parts of a rank whose state belongs in a checkpoint besides the arena: the random numbers, the parts that the
/// constructor receives, and, in a run with several ranks, the rank's own copy of the model's buffers.
///
/// The buffers of rank 0 are saved with the other tensors of the model. On other ranks, they can differ, for example if
/// they are running means of the samples that a rank has seen. What they mean then depends on the strategy.
class SavedParts {
 public:
  /// A part that has state, and the name under which a checkpoint stores this state.
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

  /// Keeps the states of a checkpoint until restore() is called. Returns the names of all owners whose state this
  /// function accepts.
  std::vector<std::string> keep(const RestoredStates& states);

  /// Restores the parts from the states stored by keep(). Does nothing if keep() was not called. If the checkpoint has
  /// no state for the random numbers of this rank, a new sequence begins.
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
