// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/model.h"

namespace trainyard {

/// One micro-batch of a step, as a strategy receives it.
///
/// The ranks of a run get equally many micro-batches, but not equally many samples. A rank that has no samples left
/// gets an empty batch, with which it takes part in whatever the ranks do together. Models never see an empty batch.
struct MicroBatch {
  ModelBatch data;            ///< The rows, on the device of the rank.
  std::uint64_t samples = 0;  ///< The rows of `data`.
  double weight = 1;          ///< Gradients are multiplied by it before they are added up.
  bool last = true;           ///< True if the step is complete after it, so that what is finished may be exchanged.
  /// Its place in the run, for errors.
  std::uint64_t epoch = 0;
  std::uint64_t index = 0;
  std::uint64_t step = 0;

  bool empty() const { return samples == 0; }
};

}  // namespace trainyard
