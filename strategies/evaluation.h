// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "models/model.h"
#include "tensors/arena.h"

namespace trainyard {

/// An evaluation or a prediction in which all ranks take part. The object exists until end() has been called. This
/// class serves ranks whose model always has complete and current parameters; strategies with other ranks derive from
/// it.
class Evaluation {
 public:
  virtual ~Evaluation() = default;

  /// Returns the metrics of a batch. For a batch without tensors there are none; the rank then only takes part in the
  /// communication.
  virtual std::vector<NamedMetric> evaluate(Model& model, const ModelBatch& batch) {
    return batch.tensors.empty() ? std::vector<NamedMetric>{} : model.evaluation_step(batch);
  }

  /// Gathers the whole model on every rank, for predictions. Called before every prediction, on all ranks.
  virtual void gather_model() {}

  /// Ends the evaluation: releases memory and restores changed values. It is the last call.
  virtual void end(ArenaEdit& /*edit*/) {}
};

}  // namespace trainyard
