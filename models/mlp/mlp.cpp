// SPDX-License-Identifier: Apache-2.0
#include "models/mlp/mlp.h"

#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/tanh.h>
#include <fmt/format.h>

#include "messages/error.h"
#include "models/classification.h"
#include "models/initialise.h"

namespace trainyard {
namespace {

at::Tensor activate(mlp::Activation activation, const at::Tensor& values) {
  switch (activation) {
    case mlp::Activation::kRelu:
      return at::relu(values);
    case mlp::Activation::kGelu:
      return at::gelu(values);
    case mlp::Activation::kTanh:
      return at::tanh(values);
    case mlp::Activation::kSigmoid:
      break;
  }
  return at::sigmoid(values);
}

}  // namespace

Mlp::Mlp(ModelContext& context) : Model(context) {}

void Mlp::build(const DatasetInfo& data) {
  const ClassificationSizes sizes = classification_sizes(data, where());
  vocabulary_ = data.vocabulary;
  std::vector<std::int64_t> widths{sizes.input_elements()};
  for (const std::int64_t width : *hidden_) {
    if (width < 1) throw Error(Code::kInvalidArgument, "{}: hidden has {}; every size must be >= 1", where(), width);
    widths.push_back(width);
  }
  widths.push_back(sizes.classes);
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    layers_.push_back(
        {uniform_parameter({widths[i + 1], widths[i]}, widths[i]), uniform_parameter({widths[i + 1]}, widths[i])});
  }
}

std::vector<NamedTensor> Mlp::parameters() {
  std::vector<NamedTensor> all;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    all.push_back({fmt::format("layers.{}.weight", i), layers_[i].weight});
    all.push_back({fmt::format("layers.{}.bias", i), layers_[i].bias});
  }
  return all;
}

/// Applies the activation of the previous layer, if there is one, and then the linear layer. The output layer therefore
/// has no activation.
at::Tensor Mlp::apply_layer(std::size_t number, const at::Tensor& values) const {
  const Layer& layer = layers_[number];
  return at::linear(number == 0 ? values : activate(*activation_, values), layer.weight, layer.bias);
}

/// Returns logits (B, classes).
at::Tensor Mlp::forward(const ModelBatch& batch) {
  at::Tensor values = stage_input(batch);
  for (std::size_t i = 0; i < layers_.size(); ++i) values = apply_layer(i, values);
  return values;
}

std::vector<Stage> Mlp::stages() {
  std::vector<Stage> all;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const std::string name = fmt::format("layers.{}", i);
    all.push_back({.name = name,
                   .parameters = with_prefix(parameters(), name + "."),
                   .buffers = {},
                   .forward = [this, i](const at::Tensor& values) { return apply_layer(i, values); }});
  }
  return all;
}

at::Tensor Mlp::stage_input(const ModelBatch& batch) {
  const at::Tensor values = float_input(batch.tensors[0], layers_.front().weight.scalar_type());
  return values.dim() == 2 ? values : values.flatten(1);
}

at::Tensor Mlp::loss(const at::Tensor& output, const ModelBatch& batch) {
  return classification_loss(output, batch.tensors[1]);
}

std::vector<NamedMetric> Mlp::metrics(const at::Tensor& output, const ModelBatch& batch) {
  return classification_metrics(output, batch.tensors[1]);
}

at::Tensor Mlp::training_step(const ModelBatch& batch) { return loss(forward(batch), batch); }

std::vector<NamedMetric> Mlp::evaluation_step(const ModelBatch& batch) { return metrics(forward(batch), batch); }

Prediction Mlp::predict(const ModelBatch& batch) {
  if (batch.tensors.empty()) {
    throw Error(Code::kUnsupported, "{} classifies samples; it was asked to predict without any ('{}')", where(),
                batch.split);
  }
  return classification_prediction(forward(batch), vocabulary_);
}

}  // namespace trainyard

TRAINYARD_MODEL(trainyard::Mlp, "mlp", "A multi-layer perceptron for classification.")
