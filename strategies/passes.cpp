// SPDX-License-Identifier: Apache-2.0
#include "strategies/passes.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>

#include <cmath>

#include "messages/error.h"

namespace trainyard {

at::Tensor Passes::forward(Model& model, const MicroBatch& batch) const {
  const TraceSpan span(options_.trace, "forward", SpanKind::kForward, batch.step);
  const ForwardScope scope = training();
  return loss(model.training_step(batch.data), batch);
}

/// The weight, which includes the loss scale, is passed to autograd as the gradient of the loss, so the loss need not
/// be multiplied by it.
at::Tensor Passes::backward(at::Tensor loss, double weight) {
  const TraceSpan span(options_.trace, "backward", SpanKind::kBackward);
  if (!weight_.defined() || weight_value_ != weight) {
    weight_ = at::full({}, weight, loss.options());
    weight_value_ = weight;
  }
  loss.backward(weight_);
  return loss.detach();  // The autograd graph, which refers to the batch, is freed together with the argument `loss`.
}

/// A 16-bit loss is converted to float32, because a loss scale, or a weight such as 1/3, cannot be represented exactly
/// in 16 bits.
at::Tensor Passes::loss(at::Tensor loss, const MicroBatch& batch) const {
  if (loss.scalar_type() == at::kHalf || loss.scalar_type() == at::kBFloat16) loss = loss.to(at::kFloat);
  if (options_.on_nan == OnNan::kIgnore) return loss;
  // Multiplies a finite loss by 1, and any other loss by NaN.
  if (options_.on_nan == OnNan::kSkip) return loss * (loss.detach() * 0 + 1);
  if (!loss.device().is_cpu()) {
    unchecked_.push_back({loss.detach(), batch.step, batch.epoch, batch.index, batch.data.split});
    return loss;
  }
  const double value =
      loss.scalar_type() == at::kFloat ? static_cast<double>(*loss.data_ptr<float>()) : loss.item<double>();
  if (!std::isfinite(value)) check(value, {{}, batch.step, batch.epoch, batch.index, batch.data.split});
  return loss;
}

void Passes::check_losses() const {
  for (const Unchecked& one : unchecked_) check(one.loss.item<double>(), one);
  unchecked_.clear();
}

void Passes::check(double value, const Unchecked& place) const {
  if (std::isfinite(value)) return;
  throw Error(
      Code::kInvalidArgument,
      "{}: the loss is {} in step {}, batch {} of epoch {} ({}); it must be finite. on_nan = 'skip' leaves such "
      "steps out, and 'ignore' goes on",
      options_.where,
      std::isnan(value) ? "nan"
      : value > 0       ? "inf"
                        : "-inf",
      place.step, place.index, place.epoch, place.split);
}

}  // namespace trainyard
