// SPDX-License-Identifier: Apache-2.0
#include "models/classification.h"

#include <ATen/ops/argmax.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/max.h>
#include <ATen/ops/softmax.h>
#include <fmt/format.h>

#include <functional>
#include <iterator>
#include <numeric>

#include "messages/error.h"
#include "tensors/bridge.h"

namespace trainyard {
namespace {

std::string describe_fields(const DatasetInfo& data) {
  std::string text;
  for (const DatasetField& field : data.fields) {
    text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", field.name, name_of(static_cast<DType>(field.dtype)),
                        to_text(field.shape));
  }
  return text.empty() ? "no fields" : text;
}

std::int64_t product(const std::vector<std::int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

/// Returns the class numbers as a one-dimensional int64 tensor, which LibTorch's losses require.
at::Tensor class_numbers(const at::Tensor& target) {
  const at::Tensor flat = target.dim() == 1 ? target : target.reshape({-1});
  return flat.scalar_type() == at::kLong ? flat : flat.to(at::kLong);
}

}  // namespace

at::Tensor at_least_float(const at::Tensor& x) { return x.element_size() < 4 ? x.to(at::kFloat) : x; }

std::int64_t ClassificationSizes::input_elements() const { return product(input); }

ClassificationSizes classification_sizes(const DatasetInfo& data, const std::string& where) {
  if (data.fields.size() != 2 || data.classes < 2 || product(data.fields[1].shape) != 1) {
    throw Error(Code::kShapeMismatch,
                "{} needs an input, one class number as target, and 2 or more classes; dataset '{}' has {}, {} classes",
                where, data.dataset, describe_fields(data), data.classes);
  }
  return {.input = data.fields[0].shape, .classes = static_cast<std::int64_t>(data.classes)};
}

at::Tensor float_input(const at::Tensor& input, at::ScalarType type) {
  if (input.scalar_type() == type) return input;
  const at::Tensor converted = input.to(type);
  return input.scalar_type() == at::kByte ? converted.div_(255) : converted;
}

at::Tensor classification_loss(const at::Tensor& logits_BC, const at::Tensor& target) {
  return at::cross_entropy_loss(at_least_float(logits_BC), class_numbers(target));
}

std::vector<NamedMetric> classification_metrics(const at::Tensor& logits_BC, const at::Tensor& target) {
  const at::Tensor right = at::argmax(logits_BC, 1).eq(class_numbers(target));
  return {{"loss", classification_loss(logits_BC, target)}, {"accuracy", right.to(at::kFloat).mean()}};
}

Prediction classification_prediction(const at::Tensor& logits_BC, const std::vector<std::string>& vocabulary) {
  // The logits are copied to the CPU once, so the loop below need not copy two values for each sample.
  const auto [probability, number] = at::softmax(at_least_float(logits_BC.to(at::kCPU)), 1).max(1);
  Prediction prediction{.title = "class and probability", .text = "", .tensors = {}};
  for (std::int64_t i = 0; i < number.size(0); ++i) {
    const auto index = number[i].item<std::int64_t>();
    const bool named = static_cast<std::size_t>(index) < vocabulary.size();
    fmt::format_to(std::back_inserter(prediction.text), "{} {:.3f}\n",
                   named ? vocabulary[static_cast<std::size_t>(index)] : fmt::format("{}", index),
                   probability[i].item<double>());
  }
  prediction.tensors = {message_of(number.contiguous()), message_of(probability.contiguous())};
  return prediction;
}

}  // namespace trainyard
