// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "models/model.h"
#include "tensors/arena.h"

namespace trainyard {

/// An evaluation or a prediction in which all ranks take part. This class is for strategies that keep all parameters,
/// with their current values, on every rank; other strategies override its functions. The object is destroyed after
/// end().
class Evaluation {
 public:
  virtual ~Evaluation() = default;

  /// Returns the metrics of a batch. Every rank must call this function for every batch, because ranks may communicate
  /// during the call. A rank that has no samples left passes a batch without tensors and gets no metrics.
  virtual std::vector<NamedMetric> evaluate(Model& model, const ModelBatch& batch) {
    return batch.tensors.empty() ? std::vector<NamedMetric>{} : model.evaluation_step(batch);
  }

  /// Gathers the whole model on every rank, because a prediction runs the model as a whole. Called on all ranks before
  /// each batch of a prediction, so an override must do nothing if the model is already gathered. The default does
  /// nothing, because every rank already has the whole model.
  virtual void gather_model() {}

  /// Ends the evaluation: releases memory, and restores the parameters through `edit` if the evaluation has changed
  /// them. The default does nothing. No other function is called afterwards.
  virtual void end(ArenaEdit& /*edit*/) {}
};

}  // namespace trainyard
