// SPDX-License-Identifier: Apache-2.0
#include "strategies/passes.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>

#include <cmath>
#include <utility>

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
  if (options_.recorder != nullptr && options_.on_unrecorded) std::exchange(options_.on_unrecorded, nullptr)();
  const TraceSpan span(options_.trace, "backward", SpanKind::kBackward);
  loss.backward(weight_tensor(weight, loss.options()));
  return loss.detach();  // The autograd graph, which refers to the batch, is freed together with the argument `loss`.
}

const at::Tensor& Passes::weight_tensor(double weight, const at::TensorOptions& options) {
  if (!weight_.defined() || weight_value_ != weight) {
    weight_ = at::full({}, weight, options);
    weight_value_ = weight;
  }
  return weight_;
}

/// The weight is an input of what is recorded, because it may change. The result belongs to the recorder until the next
/// call, so it is copied.
at::Tensor Passes::forward_and_backward(Model& model, const MicroBatch& batch) {
  if (options_.recorder == nullptr) return backward(forward(model, batch), batch.weight);
  const TraceSpan span(options_.trace, "forward and backward", SpanKind::kForward, batch.step);
  if (!loss_options_) {
    const at::Tensor parameter = model.parameters().front().tensor;
    loss_options_ = parameter.options().dtype(parameter.scalar_type() == at::kDouble ? at::kDouble : at::kFloat);
  }
  std::vector<at::Tensor> inputs = batch.data.tensors;
  inputs.push_back(weight_tensor(batch.weight, *loss_options_));
  const at::Tensor result = options_.recorder->run(inputs, [&](const std::vector<at::Tensor>& recorded) {
    ModelBatch data = batch.data;
    data.tensors.assign(recorded.begin(), recorded.end() - 1);
    at::Tensor loss;
    {
      const ForwardScope scope = training();
      loss = differentiable(model.training_step(data));
    }
    loss.backward(recorded.back());
    return loss.detach();
  });
  at::Tensor loss = result.clone();
  watch(loss, batch);
  return loss;
}

at::Tensor Passes::loss(at::Tensor loss, const MicroBatch& batch) const {
  loss = differentiable(std::move(loss));
  watch(loss, batch);
  return loss;
}

/// A 16-bit loss is converted to float32, because a loss scale, or a weight such as 1/3, cannot be represented exactly
/// in 16 bits.
at::Tensor Passes::differentiable(at::Tensor loss) const {
  if (loss.scalar_type() == at::kHalf || loss.scalar_type() == at::kBFloat16) loss = loss.to(at::kFloat);
  // Multiplies a finite loss by 1, and any other loss by NaN.
  return options_.on_nan == OnNan::kSkip ? loss * (loss.detach() * 0 + 1) : loss;
}

/// Checks the loss, or remembers it for check_losses().
void Passes::watch(const at::Tensor& loss, const MicroBatch& batch) const {
  if (options_.on_nan != OnNan::kStop) return;
  if (!loss.device().is_cpu()) {
    Unchecked one{{}, false, batch.step, batch.epoch, batch.index, batch.data.split};
    if (options_.read_later) one.read = options_.read_later(loss.detach());
    one.is_read_later = one.read != nullptr;
    if (!one.is_read_later) one.read = [value = loss.detach()] { return value.item<double>(); };
    unchecked_.push_back(std::move(one));
    return;
  }
  const double value =
      loss.scalar_type() == at::kFloat ? static_cast<double>(*loss.data_ptr<float>()) : loss.item<double>();
  if (!std::isfinite(value)) check(value, {{}, false, batch.step, batch.epoch, batch.index, batch.data.split});
}

void Passes::check_losses() {
  if (unchecked_.empty()) return;
  const std::uint64_t newest = unchecked_.back().step;
  const auto waits = [newest](const Unchecked& one) { return one.is_read_later && one.step == newest; };
  for (const Unchecked& one : unchecked_) {
    if (!waits(one)) check(one.read(), one);
  }
  std::erase_if(unchecked_, [&](const Unchecked& one) { return !waits(one); });
}

void Passes::check_all_losses() {
  for (const Unchecked& one : unchecked_) check(one.read(), one);
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
