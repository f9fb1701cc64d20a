// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/model.h"
#include "strategies/strategy.h"

namespace trainyard {

/// Switches the model between training and evaluation mode, and begins and ends the evaluations of the strategy.
/// Because switching can be expensive, the model is switched only when the mode really changes.
class EvaluationMode {
 public:
  /// Sets the model to training mode.
  EvaluationMode(Model& model, Strategy& strategy) : model_(model), strategy_(strategy) { model.set_training(true); }

  /// Sets the model to training mode. If an evaluation is in progress, it is abandoned: evaluation() must no longer be
  /// called, and the strategy ends the evaluation when training continues.
  void train() {
    evaluation_ = nullptr;
    set_training(true);
  }

  /// Begins an evaluation, and sets the model to evaluation mode.
  void begin() {
    set_training(false);
    evaluation_ = &strategy_.begin_evaluation();
  }
  /// Ends the evaluation. The model stays in evaluation mode, because another evaluation can follow.
  void end() {
    evaluation_ = nullptr;
    strategy_.end_evaluation();
  }

  /// Returns the evaluation in progress. There must be one.
  Evaluation& evaluation() const { return *evaluation_; }

 private:
  void set_training(bool training) {
    if (training == training_) return;
    model_.set_training(training);
    training_ = training;
  }

  Model& model_;
  Strategy& strategy_;
  bool training_ = true;  ///< True if the model is in training mode.
  Evaluation* evaluation_ = nullptr;
};

}  // namespace trainyard
