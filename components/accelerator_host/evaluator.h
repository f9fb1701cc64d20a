// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "components/accelerator_host/device_batches.h"
#include "components/accelerator_host/evaluation_mode.h"
#include "components/accelerator_host/random_numbers.h"
#include "messages/batch.h"
#include "models/model.h"
#include "strategies/passes.h"
#include "tensors/arena.h"

namespace trainyard {

/// Uses the model of a rank without training it: computes metrics and predictions, generates output, and shows what the
/// layers of the model compute. None of the functions computes gradients.
///
/// evaluate(), predict(), generate() and generate_aside() may only be called between begin() and end(). Every rank must
/// call the same functions, because some strategies gather the parameters of the model from all ranks.
class Evaluator {
 public:
  /// The parts of the rank that are used. They must outlive this object.
  struct Parts {
    Model& model;
    EvaluationMode& mode;
    DeviceBatches& batches;
    Passes& passes;
    RandomNumbers& random;
    const Arena& arena;
  };

  explicit Evaluator(const Parts& parts) : parts_(parts) {}

  /// These functions begin and end an evaluation, a prediction or the generation of output. Every rank must call them,
  /// even a rank without batches.
  void begin() { parts_.mode.begin(); }
  void end() { parts_.mode.end(); }

  /// These functions return the metrics or the prediction of a batch. If the batch has no samples, the result is empty,
  /// but the rank still takes part in the communication.
  std::vector<NamedMetric> evaluate(const Batch& batch);
  std::optional<Prediction> predict(const Batch& batch);

  /// Returns output that the model generates without input. `split` is passed to the model.
  Prediction generate(const std::string& split);

  /// Returns `count` outputs that the model generates without input. `split` is passed to the model. Restores the state
  /// of the random generator afterwards, so that training is not affected.
  std::vector<Prediction> generate_aside(const std::string& split, std::uint64_t count);

  /// Returns true if visit_activations() can be called: the model is divided into stages (layers or groups of layers),
  /// and this rank has all parameters.
  bool has_activations() const { return !parts_.arena.shard().parameters && !parts_.model.stages().empty(); }

  /// Computes the output of every stage of the model for a batch, in evaluation mode, and calls `visit` with the name
  /// of the stage and its output. Call this function between two micro-batches of training. Does nothing if the batch
  /// has no samples.
  void visit_activations(const Batch& batch,
                         const std::function<void(const std::string& stage, const at::Tensor& output)>& visit);

 private:
  Parts parts_;
};

}  // namespace trainyard
