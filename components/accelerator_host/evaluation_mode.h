// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/model.h"
#include "strategies/strategy.h"

namespace trainyard {

/// Whether the model is in training or in evaluation, and the strategy's evaluation in progress, if there is one.
/// Switching can be expensive, so the model is switched only when the mode changes.
class EvaluationMode {
 public:
  /// Sets the model to training.
  EvaluationMode(Model& model, Strategy& strategy) : model_(model), strategy_(strategy) { model.set_training(true); }

  /// Sets the model to training. An evaluation in progress is discarded.
  void train() {
    evaluation_ = nullptr;
    set_training(true);
  }

  /// Begin and end an evaluation. end() does not set the model to training, because another evaluation can follow.
  void begin() {
    set_training(false);
    evaluation_ = &strategy_.begin_evaluation();
  }
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
  bool training_ = true;  ///< The mode that was last set on the model: true for training.
  Evaluation* evaluation_ = nullptr;
};

}  // namespace trainyard
