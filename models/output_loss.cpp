// SPDX-License-Identifier: Apache-2.0
#include "models/output_loss.h"

#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/l1_loss.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/nll_loss.h>

#include "messages/error.h"
#include "models/classification.h"
#include "models/error_text.h"
#include "tensors/bridge.h"

namespace trainyard {

void check_fields(OutputLoss loss, const DatasetInfo& data, const std::string& where) {
  if (data.fields.size() != 2) {
    throw Error(Code::kShapeMismatch, "{} needs two fields, input and target; dataset '{}' has {}", where, data.dataset,
                data.fields.size());
  }
  if (classifies(loss)) classification_sizes(data, where);
}

at::Tensor output_loss(OutputLoss loss, const at::Tensor& result, const at::Tensor& target, const std::string& where) {
  const at::Tensor output = at_least_float(result);
  if (loss == OutputLoss::kCrossEntropy) return classification_loss(output, target);
  if (loss == OutputLoss::kNll) return at::nll_loss(output, target.to(at::kLong).view(-1));
  if (output.numel() != target.numel()) {
    throw Error(Code::kShapeMismatch,
                "{}: loss '{}' compares numbers one by one; forward returns {}, the target has {}", where,
                name_of(loss), shape_of(output), shape_of(target));
  }
  const at::Tensor wanted = target.to(output.scalar_type()).view_as(output);
  if (loss == OutputLoss::kMse) return at::mse_loss(output, wanted);
  if (loss == OutputLoss::kL1) return at::l1_loss(output, wanted);
  return at::binary_cross_entropy_with_logits(output, wanted);
}

std::vector<NamedMetric> output_metrics(OutputLoss loss, const at::Tensor& output, const at::Tensor& target,
                                        const std::string& where) {
  std::vector<NamedMetric> metrics{{"loss", output_loss(loss, output, target, where)}};
  if (classifies(loss)) metrics.push_back(classification_metrics(output, target).at(1));
  return metrics;
}

Prediction output_prediction(OutputLoss loss, const at::Tensor& output, const std::vector<std::string>& vocabulary) {
  if (classifies(loss)) return classification_prediction(output, vocabulary);
  Prediction prediction{.title = "output", .text = "", .tensors = {}};
  prediction.tensors = {message_of(output.to(at::kCPU).contiguous())};
  return prediction;
}

}  // namespace trainyard
