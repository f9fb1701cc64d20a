// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "messages/dataset_info.h"
#include "models/model.h"

namespace trainyard {

// Functions that the models for classification share. Such a model computes logits from an input tensor; the target is
// the number of the right class.
//
// Shapes: B samples of the batch, C classes.

/// The sizes of a classification model that depend on the dataset.
struct ClassificationSizes {
  std::vector<std::int64_t> input;  ///< The shape of one sample.
  std::int64_t classes = 0;         ///< The number of classes.

  /// Returns the number of values in one sample.
  std::int64_t input_elements() const;
};

/// Reads the sizes from the description of a dataset. Throws kShapeMismatch unless the dataset has exactly two fields
/// (an input, and a class number as the target) and at least two classes. The error begins with `where`, the name of
/// the model, and states what the model needs and what the dataset has.
ClassificationSizes classification_sizes(const DatasetInfo& data, const std::string& where);

/// Returns the inputs of a batch as numbers of `type`, the type of the model's weights. Bytes are scaled to the range
/// from 0 to 1.
at::Tensor float_input(const at::Tensor& input, at::ScalarType type = at::kFloat);

/// Returns the tensor in float32 if its elements have fewer than 32 bits, because losses need at least this precision;
/// otherwise returns it unchanged.
at::Tensor at_least_float(const at::Tensor& x);

/// Computes the mean cross entropy of `logits_BC`. `target` contains the number of each sample's class. 16-bit logits
/// are converted to float32 first, because a 16-bit loss would have only about three significant digits.
at::Tensor classification_loss(const at::Tensor& logits_BC, const at::Tensor& target);

/// Computes two metrics of `logits_BC`: "loss", which is the result of classification_loss(), and "accuracy", the
/// fraction of the samples for which the likeliest class is the right class. `target` contains the number of each
/// sample's class.
std::vector<NamedMetric> classification_metrics(const at::Tensor& logits_BC, const at::Tensor& target);

/// Predicts the likeliest class of each sample, with its probability. The result contains a text with one line for each
/// sample, and two tensors: the class numbers and the probabilities. `vocabulary` contains the names of the classes in
/// the order of their numbers; in the text, a class without a name appears as its number.
Prediction classification_prediction(const at::Tensor& logits_BC, const std::vector<std::string>& vocabulary);

}  // namespace trainyard
