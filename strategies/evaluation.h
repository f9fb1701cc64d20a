// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "models/model.h"
#include "tensors/arena.h"

namespace trainyard {

/// An evaluation or prediction that all ranks do together, from its beginning to its end. Meanwhile the model has
/// complete and current parameters. This class serves ranks that always have them.
class Evaluation {
 public:
  virtual ~Evaluation() = default;

  /// Returns the metrics of a batch; none for a batch without tensors, for which the rank only takes part in the
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
