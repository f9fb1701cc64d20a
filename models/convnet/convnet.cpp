// SPDX-License-Identifier: Apache-2.0
#include "models/convnet/convnet.h"

#include <ATen/ops/conv2d.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>
#include <fmt/format.h>

#include "messages/error.h"
#include "models/classification.h"
#include "models/initialise.h"
#include "models/memory_format.h"

// Shapes: B batch, C channels, H height, W width.
namespace trainyard {

void Convnet::build(const DatasetInfo& data) {
  const ClassificationSizes sizes = classification_sizes(data, where());
  vocabulary_ = data.vocabulary;
  image_ = sizes.input;
  if (image_.size() == 2) image_.insert(image_.begin(), 1);
  if (image_.size() != 3) {
    throw Error(Code::kShapeMismatch,
                "{} needs images, (height, width) or (channels, height, width); dataset '{}' has {}", where(),
                data.dataset, to_text(sizes.input));
  }
  if (*kernel_ % 2 == 0)
    throw Error(Code::kInvalidArgument, "{}: kernel = {} is even; odd is needed", where(), *kernel_);
  std::int64_t in = image_[0];
  std::int64_t height = image_[1];
  std::int64_t width = image_[2];
  for (const std::int64_t out : *channels_) {
    if (out < 1) throw Error(Code::kInvalidArgument, "{}: channels has {}; every one must be >= 1", where(), out);
    const std::int64_t fan_in = in * *kernel_ * *kernel_;
    convolutions_.push_back(
        {uniform_parameter({out, in, *kernel_, *kernel_}, fan_in), uniform_parameter({out}, fan_in)});
    in = out;
    height /= 2;
    width /= 2;
  }
  // Each max pooling halves the height and the width, rounding down.
  if (height < 1 || width < 1) {
    throw Error(Code::kShapeMismatch, "{}: {} poolings leave nothing of images of shape {}", where(), channels_->size(),
                to_text(image_));
  }
  const std::int64_t flat = in * height * width;
  hidden_layer_ = {uniform_parameter({*hidden_, flat}, flat), uniform_parameter({*hidden_}, flat)};
  output_layer_ = {uniform_parameter({sizes.classes, *hidden_}, *hidden_),
                   uniform_parameter({sizes.classes}, *hidden_)};
}

std::vector<NamedTensor> Convnet::parameters() {
  std::vector<NamedTensor> all;
  const auto add = [&all](const std::string& name, const Layer& layer) {
    all.push_back({name + ".weight", layer.weight});
    all.push_back({name + ".bias", layer.bias});
  };
  for (std::size_t i = 0; i < convolutions_.size(); ++i) add(fmt::format("convolutions.{}", i), convolutions_[i]);
  add("hidden", hidden_layer_);
  add("output", output_layer_);
  return all;
}

/// Returns images, or the weights of a convolution, in the memory format of this model. Of the images, only the input
/// of the first stage, or of a stage whose input comes from another rank, is copied, because all operations keep the
/// format. The parameters stay row by row in the arena; their copies serve the forward and the backward pass.
at::Tensor Convnet::arranged(const at::Tensor& x) const { return *channels_last_ ? channels_last(x) : x; }

at::Tensor Convnet::convolve(const Layer& layer, const at::Tensor& values_BCHW) const {
  // The convolution is padded so that it keeps the size; only pooling shrinks the image.
  const at::Tensor convolved =
      at::conv2d(arranged(values_BCHW), arranged(layer.weight), layer.bias, /*stride=*/1, /*padding=*/*kernel_ / 2);
  // ReLU after pooling gives the same result as before pooling, on a quarter of the values.
  return at::relu(at::max_pool2d(convolved, 2));
}

at::Tensor Convnet::apply_hidden(const at::Tensor& values_BCHW) const {
  const at::Tensor hidden = at::relu(at::linear(values_BCHW.flatten(1), hidden_layer_.weight, hidden_layer_.bias));
  return training_ && *dropout_ > 0 ? at::dropout(hidden, *dropout_, /*train=*/true) : hidden;
}

at::Tensor Convnet::apply_output(const at::Tensor& hidden) const {
  return at::linear(hidden, output_layer_.weight, output_layer_.bias);
}

/// Returns logits (B, classes).
at::Tensor Convnet::forward(const ModelBatch& batch) {
  at::Tensor values_BCHW = stage_input(batch);
  for (const Layer& layer : convolutions_) values_BCHW = convolve(layer, values_BCHW);
  return apply_output(apply_hidden(values_BCHW));
}

std::vector<Stage> Convnet::stages() {
  std::vector<Stage> all;
  const auto add = [&](const std::string& name, auto forward) {
    all.push_back({.name = name,
                   .parameters = with_prefix(parameters(), name + "."),
                   .buffers = {},
                   .forward = std::move(forward)});
  };
  for (std::size_t i = 0; i < convolutions_.size(); ++i) {
    add(fmt::format("convolutions.{}", i),
        [this, i](const at::Tensor& values) { return convolve(convolutions_[i], values); });
  }
  add("hidden", [this](const at::Tensor& values) { return apply_hidden(values); });
  add("output", [this](const at::Tensor& values) { return apply_output(values); });
  return all;
}

at::Tensor Convnet::stage_input(const ModelBatch& batch) {
  const at::Tensor input = float_input(batch.tensors[0], output_layer_.weight.scalar_type());
  return input.view({input.size(0), image_[0], image_[1], image_[2]});
}

at::Tensor Convnet::loss(const at::Tensor& output, const ModelBatch& batch) {
  return classification_loss(output, batch.tensors[1]);
}

std::vector<NamedMetric> Convnet::metrics(const at::Tensor& output, const ModelBatch& batch) {
  return classification_metrics(output, batch.tensors[1]);
}

at::Tensor Convnet::training_step(const ModelBatch& batch) { return loss(forward(batch), batch); }

std::vector<NamedMetric> Convnet::evaluation_step(const ModelBatch& batch) { return metrics(forward(batch), batch); }

Prediction Convnet::predict(const ModelBatch& batch) {
  if (batch.tensors.empty()) {
    throw Error(Code::kUnsupported, "{} classifies images; it was asked to predict without any ('{}')", where(),
                batch.split);
  }
  return classification_prediction(forward(batch), vocabulary_);
}

}  // namespace trainyard

TRAINYARD_MODEL(trainyard::Convnet, "convnet", "A small convolutional network for classifying images.")
