// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/model.h"

namespace example {

/// A classifier with one hidden layer. Replace the layers with your own.
class MyModel final : public trainyard::Model {
 public:
  explicit MyModel(trainyard::ModelContext& context) : Model(context) {}

  trainyard::ModelTraits traits() const override { return {{trainyard::TargetKind::kClass}}; }

  /// Creates the parameters, for samples of the shape that `data` describes. Called once, after the dataset has been
  /// opened.
  void build(const trainyard::DatasetInfo& data) override;

  std::vector<trainyard::NamedTensor> parameters() override;
  void set_training(bool /*training*/) override {}

  /// Returns the loss of a batch. Trainyard then computes the gradients of this loss.
  at::Tensor training_step(const trainyard::ModelBatch& batch) override;
  std::vector<trainyard::NamedMetric> evaluation_step(const trainyard::ModelBatch& batch) override;

 private:
  at::Tensor forward(const trainyard::ModelBatch& batch) const;

  trainyard::Parameter<std::int64_t> width_{*this, "width", 64, "size of the hidden layer", trainyard::positive()};

  at::Tensor hidden_weight_;  ///< (width, inputs)
  at::Tensor hidden_bias_;
  at::Tensor output_weight_;  ///< (classes, width)
  at::Tensor output_bias_;
};

}  // namespace example
