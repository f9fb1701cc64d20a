// SPDX-License-Identifier: Apache-2.0
#include "strategies/passes.h"

#include <ATen/ops/full.h>

#include <cmath>

#include "messages/error.h"

namespace trainyard {

at::Tensor Passes::forward(Model& model, const MicroBatch& batch) const {
  const TraceSpan span(options_.trace, "forward", "compute");
  const ForwardScope scope = training();
  return loss(model.training_step(batch.data), batch);
}

/// The weight and the loss scale enter as the seed of the backward pass, so the loss itself needs no further operation.
at::Tensor Passes::backward(at::Tensor loss, double weight) {
  const TraceSpan span(options_.trace, "backward", "compute");
  if (!weight_.defined() || weight_value_ != weight) {
    weight_ = at::full({}, weight, loss.options());
    weight_value_ = weight;
  }
  loss.backward(weight_);
  return loss.detach();  // The graph is dropped with the argument, so that nothing holds on to the batch.
}

/// A loss of 16 bits is widened, because a loss scale, or a weight such as 1/3, does not fit into 16 bits.
at::Tensor Passes::loss(at::Tensor loss, const MicroBatch& batch) const {
  if (loss.scalar_type() == at::kHalf || loss.scalar_type() == at::kBFloat16) loss = loss.to(at::kFloat);
  if (!options_.detect_anomaly) return loss;
  const auto value = loss.item<double>();
  if (std::isfinite(value)) return loss;
  throw Error(Code::kInvalidArgument, "{}: the loss is {} in batch {} of epoch {} ({}); it must be finite",
              options_.where, value, batch.index, batch.epoch, batch.data.split);
}

}  // namespace trainyard
