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

/// The parts of a rank that have state which a checkpoint keeps besides the rank's memory: the random numbers, the
/// parts that are given, and the model's buffers where the rank has buffers of its own.
///
/// Checkpoints have the buffers of rank 0, and the other ranks of a run have buffers of their own: running means of the
/// samples that they have seen. What they mean depends on the strategy.
class SavedParts {
 public:
  /// A part that has state, and the name under which checkpoints keep it.
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

  /// Keeps the states of a checkpoint until restore(), and returns the owners of those that are this rank's own.
  std::vector<std::string> keep(const RestoredStates& states);

  /// Gives the parts the state that was kept. Does nothing if there is none. Random numbers of which the checkpoint has
  /// no state begin anew.
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
