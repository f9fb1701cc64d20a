// SPDX-License-Identifier: Apache-2.0
#include "strategies/pipeline/segment.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace trainyard::pipeline {
namespace {

/// Returns the key that determines the shapes and types of the tensors between stages: the shape of the input, and
/// whether gradients are computed.
StageLink::Key key_of(const ModelBatch& batch) {
  StageLink::Key key = batch.tensors.at(0).sizes().vec();
  key.push_back(at::GradMode::is_enabled() ? 1 : 0);
  return key;
}

}  // namespace

Segment::Segment(Model& model, Placement placement, World& world, at::Device device, StepTrace* trace)
    : model_(model),
      world_(world),
      trace_(trace),
      rank_(world.rank()),
      placement_(std::move(placement)),
      stages_(model.stages()) {
  if (!is_first()) previous_.emplace(world, rank() - 1, device);
  if (!is_last()) next_.emplace(world, rank() + 1, device);
}

at::Tensor Segment::input_of(const ModelBatch& batch) {
  if (is_first()) return model_.stage_input(batch);
  const TraceSpan span(trace_, "wait for the stage before", SpanKind::kCollective);
  return previous_->receive(key_of(batch));
}

at::Tensor Segment::run(at::Tensor values) const {
  for (std::size_t i = placement_.stages[rank()]; i < placement_.stages[rank() + 1]; ++i) {
    values = stages_[i].forward(values);
  }
  return values;
}

void Segment::send_output(const at::Tensor& output, const ModelBatch& batch) { next_->send(output, key_of(batch)); }

at::Tensor Segment::gradient_of_output(const ModelBatch& batch) { return next_->receive(key_of(batch)); }

void Segment::send_gradient(const at::Tensor& gradient, const ModelBatch& batch, const ModelBatch* next) {
  if (next != nullptr) previous_->expect(key_of(*next));
  previous_->send(gradient, key_of(batch));
}

void Segment::flush() {
  if (previous_) previous_->flush();
  if (next_) next_->flush();
}

at::Tensor Segment::numbers_of_last(std::vector<double> numbers) const {
  const at::Tensor all = at::empty({static_cast<std::int64_t>(numbers.size())}, at::kDouble);
  std::ranges::copy(numbers, all.data_ptr<double>());
  world_.broadcast(all, ranks() - 1).wait();
  return all;
}

std::string Segment::text() const {
  return fmt::format("stages '{}' to '{}'", stages_[placement_.stages[rank()]].name,
                     stages_[placement_.stages[rank() + 1] - 1].name);
}

}  // namespace trainyard::pipeline
