#pragma once

#include <cstdint>

#include "models/model.h"

namespace trainyard {

/// One micro-batch of a step, as a strategy is given it.
///
/// The ranks of a run get equally many micro-batches, but not equally many samples: a rank that has none left is given
/// an empty batch, with which it takes part in whatever the ranks do together. Models never see an empty batch.
struct MicroBatch {
  ModelBatch data;            ///< On the rank's device.
  std::uint64_t samples = 0;  ///< Rows of `data`.
  double weight = 1;          ///< Gradients are multiplied by it before they are added up.
  bool last = true;           ///< The step is complete after it, so what is finished may be exchanged.
  // Its place in the run, for errors.
  std::uint64_t epoch = 0;
  std::uint64_t index = 0;

  bool empty() const { return samples == 0; }
};

}  // namespace trainyard
