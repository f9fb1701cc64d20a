// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "models/model.h"

namespace trainyard::mlp {

/// The activation functions that can be used between the layers.
enum class Activation : std::uint8_t { kRelu, kGelu, kTanh, kSigmoid };
constexpr auto words_of(Activation) { return words("activation", "relu", "gelu", "tanh", "sigmoid"); }

}  // namespace trainyard::mlp

namespace trainyard {

/// A multi-layer perceptron for classification: linear layers with an activation between them, and cross entropy as the
/// loss.
///
/// Inputs can have any shape; each sample is flattened into a vector. The trainable tensors are named
/// "layers.<i>.weight", of shape (out, in), and "layers.<i>.bias".
class Mlp final : public Model {
 public:
  explicit Mlp(ModelContext& context);

  ModelTraits traits() const override { return {{TargetKind::kClass}}; }
  void build(const DatasetInfo& data) override;
  std::vector<NamedTensor> parameters() override;
  void set_training(bool) override {}
  at::Tensor training_step(const ModelBatch& batch) override;
  std::vector<NamedMetric> evaluation_step(const ModelBatch& batch) override;
  Prediction predict(const ModelBatch& batch) override;
  std::vector<Stage> stages() override;
  at::Tensor stage_input(const ModelBatch& batch) override;
  at::Tensor loss(const at::Tensor& output, const ModelBatch& batch) override;
  std::vector<NamedMetric> metrics(const at::Tensor& output, const ModelBatch& batch) override;

 private:
  struct Layer {
    at::Tensor weight;  ///< (out, in)
    at::Tensor bias;    ///< (out)
  };

  at::Tensor forward(const ModelBatch& batch);
  at::Tensor apply_layer(std::size_t number, const at::Tensor& values) const;

  Parameter<std::vector<std::int64_t>> hidden_{*this, "hidden", std::vector<std::int64_t>{128},
                                               "sizes of the hidden layers, each >= 1"};
  Parameter<mlp::Activation> activation_{*this, "activation", mlp::Activation::kRelu, "activation between the layers"};

  std::vector<Layer> layers_;
  std::vector<std::string> vocabulary_;
};

}  // namespace trainyard
