// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "models/model.h"

namespace trainyard {

/// A small convolutional network for classification. For every entry of `channels`, it has a convolution, a ReLU and
/// max pooling that halves the height and the width. A hidden layer and an output layer follow. Images have the shape
/// (height, width) or (channels, height, width).
///
/// Its trainable tensors are named "convolutions.<i>.weight|bias", "hidden.weight|bias" and "output.weight|bias".
class Convnet final : public Model {
 public:
  explicit Convnet(ModelContext& context) : Model(context) {}

  ModelTraits traits() const override { return {{TargetKind::kClass}}; }
  void build(const DatasetInfo& data) override;
  std::vector<NamedTensor> parameters() override;
  void set_training(bool training) override { training_ = training; }
  at::Tensor training_step(const ModelBatch& batch) override;
  std::vector<NamedMetric> evaluation_step(const ModelBatch& batch) override;
  Prediction predict(const ModelBatch& batch) override;
  std::vector<Stage> stages() override;
  at::Tensor stage_input(const ModelBatch& batch) override;
  at::Tensor loss(const at::Tensor& output, const ModelBatch& batch) override;
  std::vector<NamedMetric> metrics(const at::Tensor& output, const ModelBatch& batch) override;

 private:
  struct Layer {
    at::Tensor weight;
    at::Tensor bias;
  };

  at::Tensor forward(const ModelBatch& batch);
  at::Tensor arranged(const at::Tensor& x) const;
  at::Tensor convolve(const Layer& layer, const at::Tensor& values_BCHW) const;
  at::Tensor apply_hidden(const at::Tensor& values_BCHW) const;
  at::Tensor apply_output(const at::Tensor& hidden) const;

  Parameter<std::vector<std::int64_t>> channels_{*this, "channels", std::vector<std::int64_t>{32, 64},
                                                 "output channels of the convolutions, each >= 1"};
  Parameter<std::int64_t> kernel_{*this, "kernel", 3, "width and height of the convolutions' kernels; odd",
                                  at_least(1)};
  Parameter<std::int64_t> hidden_{*this, "hidden", 128, "size of the hidden layer", at_least(1)};
  Parameter<double> dropout_{*this, "dropout", 0.25,
                             "share of the hidden activations that dropout sets to zero in training", between(0, 0.99)};
  Parameter<bool> channels_last_{*this, "channels_last", false,
                                 "keep the channels of a pixel next to each other in memory, which can be faster"};

  std::vector<Layer> convolutions_;
  Layer hidden_layer_;
  Layer output_layer_;
  std::vector<std::int64_t> image_;  ///< The shape of an image: (channels, height, width).
  std::vector<std::string> vocabulary_;
  bool training_ = true;
};

}  // namespace trainyard
