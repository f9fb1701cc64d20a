// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/model.h"

namespace trainyard {

/// One micro-batch of a step, as a strategy receives it.
///
/// All ranks of a run get the same number of micro-batches, but not the same number of samples. A rank that has no
/// samples left gets an empty batch, so that it takes part in the communication of the ranks. Models never get an empty
/// batch.
struct MicroBatch {
  /// The samples, on the device of the rank.
  ModelBatch data;
  /// The number of samples in `data`.
  std::uint64_t samples = 0;
  /// The factor by which the gradients of this micro-batch are multiplied before they are added up. It contains
  /// `loss_scale`.
  double weight = 1;
  double loss_scale = 1;  ///< The loss scale of the step; 1 if the loss is not scaled.
  bool last = true;  ///< True for the last micro-batch of a step, during which finished gradients may be exchanged.
  /// For error messages: the epoch, the index of the batch in the epoch, and the step.
  std::uint64_t epoch = 0;
  std::uint64_t index = 0;
  std::uint64_t step = 0;

  bool empty() const { return samples == 0; }
};

}  // namespace trainyard
