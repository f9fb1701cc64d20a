#pragma once

#include <vector>

#include "models/model.h"
#include "tensors/arena.h"

namespace trainyard {

/// An evaluation or prediction that all ranks do together, from its beginning to its end. Meanwhile the model has whole
/// and current parameters. This class serves ranks that have them anyway.
class Evaluation {
 public:
  virtual ~Evaluation() = default;

  /// The metrics of a batch; none for a batch without tensors, with which the rank takes part in what the others do.
  virtual std::vector<NamedMetric> evaluate(Model& model, const ModelBatch& batch) {
    return batch.tensors.empty() ? std::vector<NamedMetric>{} : model.evaluation_step(batch);
  }

  /// Brings the whole model to every rank, for predictions by the model as a whole. Called before every prediction, on
  /// all ranks.
  virtual void gather_model() {}

  /// The last call. Gives back what was taken, and restores what was changed.
  virtual void end(ArenaEdit& /*edit*/) {}
};

}  // namespace trainyard
