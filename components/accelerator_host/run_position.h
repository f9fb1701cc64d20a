// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "messages/batch.h"
#include "messages/run_state.h"

namespace trainyard::host {

/// How far this rank has got in the run. The accelerator host's orders (ActiveOrder) update this object, which outlives
/// them.
struct RunPosition {
  std::uint64_t step = 0;  ///< The number of steps done, without those that were skipped.
  /// The number of steps done or skipped. It is the same on all ranks that have done the same work, even if the ranks
  /// skip steps independently of each other.
  std::uint64_t all_steps = 0;
  std::uint64_t epoch = 0;    ///< The epoch of the most recent training batch.
  std::uint64_t samples = 0;  ///< The number of samples that this rank has used in complete or skipped steps.
  /// The position in the training data after the last complete or skipped step, at which a resumed run continues.
  LoaderCursor cursor;
};

/// Returns the position at which a rank begins. When a run resumes, rank 0 begins with the number of samples that all
/// ranks together had trained on before, and the other ranks begin with 0. So the sum over all ranks is right even if
/// the number of ranks has changed.
inline RunPosition position_of(const RunState& state, std::uint32_t rank) {
  return {.step = state.step,
          .all_steps = state.step + state.skipped_steps,
          .epoch = state.epoch,
          .samples = rank == 0 ? state.samples : 0,
          .cursor = state.cursor};
}

}  // namespace trainyard::host
