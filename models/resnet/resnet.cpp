// SPDX-License-Identifier: Apache-2.0
#include "models/resnet/resnet.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "messages/error.h"
#include "models/classification.h"
#include "models/initialise.h"
#include "models/memory_format.h"

// Shapes: B batch, C channels, H height, W width.
namespace trainyard {
namespace {

constexpr double kMomentum = 0.1;
constexpr double kEpsilon = 1e-5;
/// Images up to this size get the CIFAR stem, because the ImageNet stem would shrink them too much.
constexpr std::int64_t kSmallImage = 64;

using Stages = std::array<int, 4>;
constexpr Stages kResnet18{2, 2, 2, 2};
constexpr Stages kResnet34{3, 4, 6, 3};

}  // namespace

bool Resnet::cifar_stem(const std::vector<std::int64_t>& image) const {
  if (*stem_ != "auto") return *stem_ == "cifar";
  return image[1] <= kSmallImage && image[2] <= kSmallImage;
}

/// Makes a convolution and its batch norm. The weights are drawn by Kaiming normal initialisation with fan-out, as in
/// torchvision.
Resnet::Unit Resnet::make_unit(const std::string& convolution, const std::string& norm, std::int64_t in,
                               std::int64_t out, std::int64_t kernel, std::int64_t stride) {
  const double deviation = std::sqrt(2.0 / static_cast<double>(out * kernel * kernel));
  Unit unit{.weight = normal_parameter({out, in, kernel, kernel}, deviation),
            .norm = {.gain = constant_parameter({out}, 1),
                     .bias = constant_parameter({out}, 0),
                     .mean = at::zeros({out}),
                     .variance = at::ones({out}),
                     .batches = at::zeros({}, at::kLong)},
            .stride = stride};
  parameters_.push_back({convolution + ".weight", unit.weight});
  parameters_.push_back({norm + ".weight", unit.norm.gain});
  parameters_.push_back({norm + ".bias", unit.norm.bias});
  buffers_.push_back({norm + ".running_mean", unit.norm.mean});
  buffers_.push_back({norm + ".running_var", unit.norm.variance});
  buffers_.push_back({norm + ".num_batches_tracked", unit.norm.batches});
  return unit;
}

Resnet::Block Resnet::make_block(const std::string& name, std::int64_t in, std::int64_t out, std::int64_t stride) {
  Block block{.first = make_unit(name + ".conv1", name + ".bn1", in, out, 3, stride),
              .second = make_unit(name + ".conv2", name + ".bn2", out, out, 3, 1),
              .shortcut = {},
              .name = name};
  if (stride != 1 || in != out) {
    block.shortcut = make_unit(name + ".downsample.0", name + ".downsample.1", in, out, 1, stride);
  }
  return block;
}

void Resnet::build(const DatasetInfo& data) {
  const ClassificationSizes sizes = classification_sizes(data, where());
  if (sizes.input.size() != 3) {
    throw Error(Code::kShapeMismatch, "{} needs images (channels, height, width); dataset '{}' has {}", where(),
                data.dataset, to_text(sizes.input));
  }
  if (*layers_ != 18 && *layers_ != 34) {
    throw Error(Code::kInvalidArgument, "{}: layers = {} is not allowed; 18 or 34", where(), *layers_);
  }
  vocabulary_ = data.vocabulary;
  const bool cifar = cifar_stem(sizes.input);
  stem_unit_ = make_unit("conv1", "bn1", sizes.input[0], *width_, cifar ? 3 : 7, cifar ? 1 : 2);
  pools_ = !cifar;
  std::int64_t channels = *width_;
  const Stages& stages = *layers_ == 18 ? kResnet18 : kResnet34;
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    const std::int64_t out = *width_ << stage;
    for (int i = 0; i < stages[stage]; ++i) {
      const std::int64_t stride = stage > 0 && i == 0 ? 2 : 1;
      blocks_.push_back(make_block(fmt::format("layer{}.{}", stage + 1, i), channels, out, stride));
      channels = out;
    }
  }
  head_weight_ = uniform_parameter({sizes.classes, channels}, channels);
  head_bias_ = uniform_parameter({sizes.classes}, channels);
  parameters_.push_back({"fc.weight", head_weight_});
  parameters_.push_back({"fc.bias", head_bias_});
}

/// Returns images, or the weights of a convolution, in the memory format of this model. Of the images, only the input
/// of the first stage, or of a stage whose input comes from another rank, is copied, because all operations keep the
/// format.
at::Tensor Resnet::arranged(const at::Tensor& x) const { return *channels_last_ ? channels_last(x) : x; }

/// Applies the convolution, padded so that a stride of 1 keeps the size, and the batch norm. The parameters stay row by
/// row in the arena. A copy of the weights for the forward and the backward pass is faster in bf16-mixed than to let
/// LibTorch rearrange them in each of the two, and as fast in 32-true.
at::Tensor Resnet::apply(const Unit& unit, const at::Tensor& x) const {
  const at::Tensor y = at::conv2d(x, arranged(unit.weight), {}, unit.stride, unit.weight.size(2) / 2);
  if (training_) unit.norm.batches.add_(1);
  return at::batch_norm(y, unit.norm.gain, unit.norm.bias, unit.norm.mean, unit.norm.variance, training_, kMomentum,
                        kEpsilon, /*cudnn_enabled=*/true);
}

at::Tensor Resnet::apply(const Block& block, const at::Tensor& input) const {
  const at::Tensor x = arranged(input);
  at::Tensor y = apply(block.first, x).relu_();
  y = apply(block.second, y);
  // The addition and the ReLU can work in place, because neither the batch norm nor the addition needs its result in
  // the backward pass.
  return y.add_(block.shortcut ? apply(*block.shortcut, x) : x).relu_();
}

at::Tensor Resnet::apply_stem(const at::Tensor& input) const {
  const at::Tensor x_BCHW = apply(stem_unit_, arranged(input)).relu_();
  return pools_ ? at::max_pool2d(x_BCHW, /*kernel_size=*/3, /*stride=*/2, /*padding=*/1) : x_BCHW;
}

at::Tensor Resnet::apply_head(const at::Tensor& x_BCHW) const {
  return at::linear(at::adaptive_avg_pool2d(x_BCHW, {1, 1}).flatten(1), head_weight_, head_bias_);
}

/// Returns logits (B, classes).
at::Tensor Resnet::forward(const ModelBatch& batch) {
  at::Tensor x_BCHW = apply_stem(stage_input(batch));
  for (const Block& block : blocks_) x_BCHW = apply(block, x_BCHW);
  return apply_head(x_BCHW);
}

/// Returns the stages: the stem, each block, and the head.
std::vector<Stage> Resnet::stages() {
  std::vector<Stage> all;
  const auto add = [&](const std::string& name, std::initializer_list<std::string> prefixes, auto forward) {
    all.push_back({.name = name, .parameters = {}, .buffers = {}, .forward = std::move(forward)});
    for (const std::string& prefix : prefixes) {
      std::ranges::copy(with_prefix(parameters_, prefix), std::back_inserter(all.back().parameters));
      std::ranges::copy(with_prefix(buffers_, prefix), std::back_inserter(all.back().buffers));
    }
  };
  add("stem", {"conv1.", "bn1."}, [this](const at::Tensor& x) { return apply_stem(x); });
  for (const Block& block : blocks_) {
    add(block.name, {block.name + "."}, [this, &block](const at::Tensor& x) { return apply(block, x); });
  }
  add("fc", {"fc."}, [this](const at::Tensor& x) { return apply_head(x); });
  return all;
}

at::Tensor Resnet::stage_input(const ModelBatch& batch) {
  return float_input(batch.tensors[0], head_weight_.scalar_type());
}

at::Tensor Resnet::loss(const at::Tensor& output, const ModelBatch& batch) {
  return classification_loss(output, batch.tensors[1]);
}

std::vector<NamedMetric> Resnet::metrics(const at::Tensor& output, const ModelBatch& batch) {
  return classification_metrics(output, batch.tensors[1]);
}

at::Tensor Resnet::training_step(const ModelBatch& batch) { return loss(forward(batch), batch); }

std::vector<NamedMetric> Resnet::evaluation_step(const ModelBatch& batch) { return metrics(forward(batch), batch); }

Prediction Resnet::predict(const ModelBatch& batch) {
  if (batch.tensors.empty()) {
    throw Error(Code::kUnsupported, "{} classifies images; it was asked to predict without any ('{}')", where(),
                batch.split);
  }
  return classification_prediction(forward(batch), vocabulary_);
}

}  // namespace trainyard

TRAINYARD_MODEL(trainyard::Resnet, "resnet", "ResNet-18 and 34 for classifying images, with torchvision's names.")
