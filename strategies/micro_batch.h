// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/model.h"

namespace trainyard {

/// One micro-batch of a training step (one of the batches whose gradients are added up), as a strategy receives it.
///
/// All ranks get the same number of micro-batches, but not always the same number of samples. A rank that has no
/// samples left gets an empty micro-batch, so that it can take part in the communication between the ranks. The
/// strategy must not pass an empty batch to the model.
struct MicroBatch {
  /// The samples, on the device of the rank.
  ModelBatch data;
  /// The number of samples in `data`.
  std::uint64_t samples = 0;
  /// The factor by which the gradients of this micro-batch are multiplied before they are added up. `loss_scale` is
  /// already included.
  double weight = 1;
  double loss_scale = 1;  ///< The loss scale of the step; 1 if the loss is not scaled.
  /// True for the last micro-batch of a step. Its backward pass completes the gradients, so the ranks may already
  /// exchange them during this pass.
  bool last = true;
  /// For error messages: the epoch, the index of the batch in the epoch, and the step.
  std::uint64_t epoch = 0;
  std::uint64_t index = 0;
  std::uint64_t step = 0;

  bool empty() const { return samples == 0; }
};

}  // namespace trainyard
