// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/model.h"
#include "strategies/strategy.h"

namespace trainyard {

/// The mode of the model, training or evaluation, and the evaluation that is under way. Switching a model can be
/// expensive, so Model::set_training is called only when the mode changes.
class EvaluationMode {
 public:
  /// Sets the model to training.
  EvaluationMode(Model& model, Strategy& strategy) : model_(model), strategy_(strategy) { model.set_training(true); }

  /// Sets the model to training. If an evaluation was cancelled, evaluation() is no longer valid.
  void train() {
    evaluation_ = nullptr;
    set_training(true);
  }

  /// Begin and end an evaluation. end() does not set the model to training, because another evaluation may follow.
  void begin() {
    set_training(false);
    evaluation_ = &strategy_.begin_evaluation();
  }
  void end() {
    evaluation_ = nullptr;
    strategy_.end_evaluation();
  }

  /// Returns the evaluation that is under way. There must be one.
  Evaluation& evaluation() const { return *evaluation_; }

 private:
  void set_training(bool training) {
    if (training == training_) return;
    model_.set_training(training);
    training_ = training;
  }

  Model& model_;
  Strategy& strategy_;
  bool training_ = true;  ///< The argument of the last call of Model::set_training.
  Evaluation* evaluation_ = nullptr;
};

}  // namespace trainyard
