// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "messages/batch.h"
#include "messages/run_state.h"

namespace trainyard::host {

/// The progress of the run. Orders update this object, which outlives them.
struct RunPosition {
  std::uint64_t step = 0;     ///< The number of steps done.
  std::uint64_t epoch = 0;    ///< The epoch of the last training batch.
  std::uint64_t samples = 0;  ///< The samples that this rank has trained on, in complete steps.
  LoaderCursor cursor;        ///< The position after the last batch of the last complete step.
};

/// Returns where a run begins on a rank. Rank 0 continues the counts of the ranks that trained before, so that the sum
/// over all ranks is correct even if their number has changed.
inline RunPosition position_of(const RunState& state, std::uint32_t rank) {
  return {.step = state.step, .epoch = state.epoch, .samples = rank == 0 ? state.samples : 0, .cursor = state.cursor};
}

}  // namespace trainyard::host
