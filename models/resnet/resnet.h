// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "models/model.h"

namespace trainyard {

/// ResNet-18 and ResNet-34 for classifying images of shape (channels, height, width), after He et al., "Deep Residual
/// Learning for Image Recognition" (CVPR 2016).
///
/// The tensors have the same names and shapes as in torchvision's resnet18 and resnet34, so weights can be exchanged in
/// both directions. The first layers, called the stem, exist in two forms: that of torchvision, and the CIFAR stem for
/// small images, which is a 3 x 3 convolution without pooling. With the CIFAR stem, only the shape of "conv1.weight"
/// differs from torchvision's.
///
/// Batch norms keep running means and variances as buffers (tensors that are saved but not trained), with torchvision's
/// momentum of 0.1. Every rank has its own buffers, which are not synchronised.
class Resnet final : public Model {
 public:
  explicit Resnet(ModelContext& context) : Model(context) {}

  ModelTraits traits() const override { return {{TargetKind::kClass}}; }
  /// Makes the layers. Throws kShapeMismatch unless the samples are images and the targets are classes.
  void build(const DatasetInfo& data) override;
  std::vector<NamedTensor> parameters() override { return parameters_; }
  std::vector<NamedTensor> buffers() override { return buffers_; }
  void set_training(bool training) override { training_ = training; }
  at::Tensor training_step(const ModelBatch& batch) override;
  std::vector<NamedMetric> evaluation_step(const ModelBatch& batch) override;
  Prediction predict(const ModelBatch& batch) override;
  std::vector<Stage> stages() override;
  at::Tensor stage_input(const ModelBatch& batch) override;
  at::Tensor loss(const at::Tensor& output, const ModelBatch& batch) override;
  std::vector<NamedMetric> metrics(const at::Tensor& output, const ModelBatch& batch) override;

 private:
  struct Norm {
    at::Tensor gain;
    at::Tensor bias;
    at::Tensor mean;      ///< The running mean.
    at::Tensor variance;  ///< The running variance.
    at::Tensor batches;   ///< The number of training batches seen, as int64. Only torchvision's state dict needs it.
  };
  /// A convolution without a bias, followed by a batch norm.
  struct Unit {
    at::Tensor weight;
    Norm norm;
    std::int64_t stride = 1;
  };
  /// Two 3 x 3 units, and a shortcut that bypasses them. The shortcut is a 1 x 1 unit if the block changes the shape;
  /// otherwise it is the identity and has no unit.
  struct Block {
    Unit first;
    Unit second;
    std::optional<Unit> shortcut;
    std::string name;  ///< For example "layer1.0".
  };

  bool cifar_stem(const std::vector<std::int64_t>& image) const;
  at::Tensor arranged(const at::Tensor& x) const;
  Unit make_unit(const std::string& convolution, const std::string& norm, std::int64_t in, std::int64_t out,
                 std::int64_t kernel, std::int64_t stride);
  Block make_block(const std::string& name, std::int64_t in, std::int64_t out, std::int64_t stride);
  at::Tensor apply(const Unit& unit, const at::Tensor& x) const;
  at::Tensor apply(const Block& block, const at::Tensor& input) const;
  at::Tensor apply_stem(const at::Tensor& input) const;
  at::Tensor apply_head(const at::Tensor& x_BCHW) const;
  at::Tensor forward(const ModelBatch& batch);

  Parameter<std::int64_t> layers_{*this, "layers", 18, "18 or 34", between(18, 34)};
  Parameter<std::string> stem_{*this, "stem", "auto",
                               "cifar: 3 x 3, for small images; imagenet: 7 x 7 with stride 2 and pooling; auto: cifar "
                               "for images of up to 64 x 64",
                               one_of({"auto", "cifar", "imagenet"})};
  Parameter<std::int64_t> width_{*this, "width", 64, "channels of the first stage; each further stage doubles them",
                                 at_least(1)};
  Parameter<bool> channels_last_{*this, "channels_last", false,
                                 "keep the channels of a pixel next to each other in memory, which can be faster"};

  std::vector<NamedTensor> parameters_;
  std::vector<NamedTensor> buffers_;
  Unit stem_unit_;
  bool pools_ = false;  ///< True if the stem ends with pooling.
  std::vector<Block> blocks_;
  at::Tensor head_weight_;
  at::Tensor head_bias_;
  std::vector<std::string> vocabulary_;
  bool training_ = true;
};

}  // namespace trainyard
