// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/evaluator.h"

#include <ATen/core/grad_mode.h>

#include "core/spans/span_scope.h"
#include "tensors/operation_spans.h"

namespace trainyard {

std::vector<NamedMetric> Evaluator::evaluate(const Batch& batch) {
  const at::NoGradGuard no_gradients;
  const core::SpanScope span(SpanKind::kForward, "evaluate");
  const OperationSpans operations;
  const ForwardScope scope = parts_.passes.evaluation();
  std::vector<NamedMetric> metrics = parts_.mode.evaluation().evaluate(parts_.model, parts_.batches.take(batch));
  parts_.batches.release();
  return metrics;
}

std::optional<Prediction> Evaluator::predict(const Batch& batch) {
  const at::NoGradGuard no_gradients;
  parts_.mode.evaluation().gather_model();
  if (batch.samples == 0) return {};
  const ForwardScope scope = parts_.passes.evaluation();
  Prediction prediction = parts_.model.predict(parts_.batches.take(batch));
  parts_.batches.release();
  return prediction;
}

Prediction Evaluator::generate(const std::string& split) {
  const at::NoGradGuard no_gradients;
  parts_.mode.evaluation().gather_model();
  const ForwardScope scope = parts_.passes.training();  // The model may draw random numbers.
  return parts_.model.predict({.split = split, .tensors = {}});
}

std::vector<Prediction> Evaluator::generate_aside(const std::string& split, std::uint64_t count) {
  const at::NoGradGuard no_gradients;
  parts_.mode.evaluation().gather_model();
  const ForwardScope scope = parts_.passes.evaluation();
  std::vector<Prediction> generated;
  parts_.random.draw_aside([&] {
    while (generated.size() < count) generated.push_back(parts_.model.predict({.split = split, .tensors = {}}));
  });
  return generated;
}

// In evaluation mode, a forward pass neither draws random numbers nor changes buffers, so it does not affect training.
void Evaluator::visit_activations(
    const Batch& batch, const std::function<void(const std::string& stage, const at::Tensor& output)>& visit) {
  if (batch.samples == 0) return;
  const at::NoGradGuard no_gradients;
  const ForwardScope scope = parts_.passes.evaluation();
  parts_.model.set_training(false);
  at::Tensor values = parts_.model.stage_input(parts_.batches.take(batch));
  for (const Stage& stage : parts_.model.stages()) {
    values = stage.forward(values);
    visit(stage.name, values);
  }
  parts_.model.set_training(true);
  parts_.batches.release();
}

}  // namespace trainyard
