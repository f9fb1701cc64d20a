// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "models/model.h"
#include "tensors/arena.h"

namespace trainyard {

/// An evaluation or a prediction in which all ranks take part. The object exists until end() returns. This class is for
/// strategies that keep complete and current parameters on every rank; other strategies override its functions.
class Evaluation {
 public:
  virtual ~Evaluation() = default;

  /// Returns the metrics of a batch. A rank that has no samples left passes a batch without tensors, so that it takes
  /// part in the communication; the result is then empty.
  virtual std::vector<NamedMetric> evaluate(Model& model, const ModelBatch& batch) {
    return batch.tensors.empty() ? std::vector<NamedMetric>{} : model.evaluation_step(batch);
  }

  /// Gathers the whole model on every rank, for predictions. Called on all ranks before every prediction. The default
  /// does nothing, because every rank has the whole model.
  virtual void gather_model() {}

  /// Ends the evaluation: releases memory and restores changed values. The default does nothing. No other function is
  /// called afterwards.
  virtual void end(ArenaEdit& /*edit*/) {}
};

}  // namespace trainyard
