// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "messages/dataset_info.h"
#include "models/model.h"

namespace trainyard {

// What classifiers share. A classifier is given an input tensor and the number of the right class, and computes logits.

/// The sizes that a classifier takes from the dataset.
struct ClassificationSizes {
  std::vector<std::int64_t> input;  ///< The shape of one sample.
  std::int64_t classes = 0;

  std::int64_t input_elements() const;
};

/// Reads the sizes from what the dataset says of itself. Throws kShapeMismatch for a dataset that has not an input, one
/// class number as target and a number of classes; the error says what is needed and what there is. `where` names the
/// model.
ClassificationSizes classification_sizes(const DatasetInfo& data, const std::string& where);

/// Converts the inputs of a batch to the floating type of the weights. Bytes become numbers from 0 to 1.
at::Tensor float_input(const at::Tensor& input, at::ScalarType type = at::kFloat);

/// Converts numbers of 16 bits to float32, in which losses are computed, and returns others as they are.
at::Tensor at_least_float(const at::Tensor& x);

/// Computes the mean cross entropy of `logits_BC` against the class numbers `target`. For logits of 16 bits it computes
/// in float32, because a loss of 16 bits would have only three digits.
at::Tensor classification_loss(const at::Tensor& logits_BC, const at::Tensor& target);

/// Computes the metrics "loss" and "accuracy".
std::vector<NamedMetric> classification_metrics(const at::Tensor& logits_BC, const at::Tensor& target);

/// Predicts the likeliest class of each sample and its probability: a text with one line for each sample, and the two
/// tensors class and probability.
Prediction classification_prediction(const at::Tensor& logits_BC, const std::vector<std::string>& vocabulary);

}  // namespace trainyard
