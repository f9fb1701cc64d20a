// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "messages/batch.h"
#include "messages/run_state.h"

namespace trainyard::host {

/// The progress of the run. Orders update it, and it outlives each of them.
struct RunPosition {
  std::uint64_t step = 0;     ///< The optimizer steps done.
  std::uint64_t epoch = 0;    ///< The epoch of the last training batch.
  std::uint64_t samples = 0;  ///< The samples trained on, in complete steps.
  LoaderCursor cursor;        ///< The position after the last batch of the last complete step.
};

/// Returns where a run begins.
inline RunPosition position_of(const RunState& state) {
  return {.step = state.step, .epoch = state.epoch, .samples = state.samples, .cursor = state.cursor};
}

}  // namespace trainyard::host
