// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/model.h"
#include "strategies/strategy.h"

namespace trainyard {

/// Whether the model is training or being evaluated, and by which evaluation of the strategy. Models may have much to
/// switch, so they are told only of changes.
class EvaluationMode {
 public:
  /// Sets the model to training.
  EvaluationMode(Model& model, Strategy& strategy) : model_(model), strategy_(strategy) { model.set_training(true); }

  /// Sets the model to training. An evaluation that was broken off is over.
  void train() {
    evaluation_ = nullptr;
    set_training(true);
  }

  /// Begin and end an evaluation. The end does not set the model to training, because another evaluation may follow.
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
  bool training_ = true;  ///< What was last set on the model.
  Evaluation* evaluation_ = nullptr;
};

}  // namespace trainyard
