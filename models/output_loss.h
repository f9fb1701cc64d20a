// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "messages/words.h"
#include "models/model.h"

namespace trainyard {

// Functions for models that run a module from a file. Such a model knows only the output of the module, and the launch
// file names the loss.

/// The loss functions that can be applied to an output and the target.
enum class OutputLoss : std::uint8_t { kCrossEntropy, kNll, kMse, kL1, kBceWithLogits };
constexpr auto words_of(OutputLoss) { return words("loss", "cross_entropy", "nll", "mse", "l1", "bce_with_logits"); }

/// Returns true if the target of the loss is a class.
constexpr bool classifies(OutputLoss loss) { return loss == OutputLoss::kCrossEntropy || loss == OutputLoss::kNll; }

/// Throws kShapeMismatch unless the dataset has an input and a target that fits the loss. The error begins with
/// `where`, the name of the model.
void check_fields(OutputLoss loss, const DatasetInfo& data, const std::string& where);

/// Returns the mean loss over the batch, in float32 or a wider type. A target that is not a class is converted to the
/// type of the output and reshaped, for example from (B) to (B, 1). Throws kShapeMismatch, with a text that begins with
/// `where`, if such a target has a different number of elements than the output.
at::Tensor output_loss(OutputLoss loss, const at::Tensor& output, const at::Tensor& target, const std::string& where);

/// Returns the metric "loss" and, if the target is a class, "accuracy". Throws what output_loss() throws.
std::vector<NamedMetric> output_metrics(OutputLoss loss, const at::Tensor& output, const at::Tensor& target,
                                        const std::string& where);

/// Returns what classification_prediction() returns if the target is a class, otherwise the output itself.
Prediction output_prediction(OutputLoss loss, const at::Tensor& output, const std::vector<std::string>& vocabulary);

}  // namespace trainyard
