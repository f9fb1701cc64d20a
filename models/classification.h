#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "messages/dataset_info.h"
#include "models/model.h"

namespace trainyard {

// What classifiers share: they are given an input tensor and the number of the right class, and answer with logits.

/// Sizes that a classifier takes from the dataset.
struct ClassificationSizes {
  std::vector<std::int64_t> input;  ///< Of one sample.
  std::int64_t classes = 0;

  std::int64_t input_elements() const;
};

/// Throws kShapeMismatch with what a classifier needs (an input, one class number as target, a number of classes) and
/// what the dataset has. `where` names the model.
ClassificationSizes classification_sizes(const DatasetInfo& data, const std::string& where);

/// The inputs of a batch in the floating type of the weights: bytes become 0 to 1.
at::Tensor float_input(const at::Tensor& input, at::ScalarType type = at::kFloat);

/// Numbers of 16 bits as float32, others as they are: what losses are computed in.
at::Tensor at_least_float(const at::Tensor& x);

/// Mean cross entropy of `logits_BC` against the class numbers `target`; in float32 for logits of 16 bits, in whose
/// type a loss would have three digits.
at::Tensor classification_loss(const at::Tensor& logits_BC, const at::Tensor& target);

/// "loss" and "accuracy".
std::vector<NamedMetric> classification_metrics(const at::Tensor& logits_BC, const at::Tensor& target);

/// The likeliest class and its probability, for each sample: text with one line a sample, tensors "class" and
/// "probability".
Prediction classification_prediction(const at::Tensor& logits_BC, const std::vector<std::string>& vocabulary);

}  // namespace trainyard
