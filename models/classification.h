// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "messages/dataset_info.h"
#include "models/model.h"

namespace trainyard {

// These functions are shared by classifiers. A classifier is given an input tensor and the number of the right class,
// and computes logits.

/// The sizes that a classifier takes from the dataset.
struct ClassificationSizes {
  std::vector<std::int64_t> input;  ///< The shape of one sample.
  std::int64_t classes = 0;

  std::int64_t input_elements() const;
};

/// Reads the sizes from the dataset's description. Throws kShapeMismatch, saying what is needed and what was found,
/// unless the dataset has an input, one class number as target, and a number of classes. `where` names the model.
ClassificationSizes classification_sizes(const DatasetInfo& data, const std::string& where);

/// Converts the inputs of a batch to `type`, the type of the weights. Bytes become numbers from 0 to 1.
at::Tensor float_input(const at::Tensor& input, at::ScalarType type = at::kFloat);

/// Returns the tensor in float32 if its elements have fewer than 32 bits, because losses are computed in float32;
/// otherwise returns it unchanged.
at::Tensor at_least_float(const at::Tensor& x);

/// Computes the mean cross entropy of `logits_BC` against the class numbers `target`. For 16-bit logits it computes in
/// float32, because a 16-bit loss would have only three digits.
at::Tensor classification_loss(const at::Tensor& logits_BC, const at::Tensor& target);

/// Computes the metrics "loss" and "accuracy".
std::vector<NamedMetric> classification_metrics(const at::Tensor& logits_BC, const at::Tensor& target);

/// Predicts the likeliest class of each sample and its probability: a text with one line for each sample, and the two
/// tensors class and probability.
Prediction classification_prediction(const at::Tensor& logits_BC, const std::vector<std::string>& vocabulary);

}  // namespace trainyard
