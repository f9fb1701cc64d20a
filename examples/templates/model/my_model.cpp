// SPDX-License-Identifier: Apache-2.0
#include "models/my_model/my_model.h"

#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>

#include "models/classification.h"
#include "models/initialise.h"

namespace example {

void MyModel::build(const trainyard::DatasetInfo& data) {
  const trainyard::ClassificationSizes sizes = trainyard::classification_sizes(data, where());
  const std::int64_t inputs = sizes.input_elements();
  hidden_weight_ = trainyard::uniform_parameter({*width_, inputs}, inputs);
  hidden_bias_ = trainyard::uniform_parameter({*width_}, inputs);
  output_weight_ = trainyard::uniform_parameter({sizes.classes, *width_}, *width_);
  output_bias_ = trainyard::uniform_parameter({sizes.classes}, *width_);
}

// Checkpoints store the tensors under these names.
std::vector<trainyard::NamedTensor> MyModel::parameters() {
  return {{"hidden.weight", hidden_weight_},
          {"hidden.bias", hidden_bias_},
          {"output.weight", output_weight_},
          {"output.bias", output_bias_}};
}

/// Returns one row of logits for each sample.
at::Tensor MyModel::forward(const trainyard::ModelBatch& batch) const {
  const at::Tensor input = trainyard::float_input(batch.tensors[0], hidden_weight_.scalar_type()).flatten(1);
  return at::linear(at::relu(at::linear(input, hidden_weight_, hidden_bias_)), output_weight_, output_bias_);
}

at::Tensor MyModel::training_step(const trainyard::ModelBatch& batch) {
  return trainyard::classification_loss(forward(batch), batch.tensors[1]);
}

std::vector<trainyard::NamedMetric> MyModel::evaluation_step(const trainyard::ModelBatch& batch) {
  return trainyard::classification_metrics(forward(batch), batch.tensors[1]);
}

}  // namespace example

TRAINYARD_MODEL(example::MyModel, "my_model", "A classifier with one hidden layer.")
