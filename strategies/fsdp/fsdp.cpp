#include "strategies/fsdp/fsdp.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <utility>

#include "strategies/step_trace.h"
#include "tensors/bridge.h"

namespace trainyard {

std::vector<std::uint64_t> Fsdp::bounds(const ArenaLayout& layout) const {
  return shard_bounds(layout.parameter_bytes, context().world_size);
}

ArenaShard Fsdp::shard(const ArenaLayout& layout) const {
  const std::vector<std::uint64_t> parts = bounds(layout);
  return {.begin = parts[context().rank],
          .end = parts[context().rank + 1],
          .gradients = true,
          .parameters = true,
          .in_place = false};
}

void Fsdp::set_up(const Replica& replica) {
  Strategy::set_up(replica);
  bounds_ = bounds(arena().layout());
  make_groups();
  take_memory();
  tell();
}

void Fsdp::make_groups() {
  stages_ = model().stages();
  inputs_.resize(stages_.size() + 1);
  outputs_.resize(stages_.size());
  const std::vector<NamedTensor> parameters = model().parameters();
  for (ParameterGroup& group : group_parameters(stages_, arena().layout())) {
    groups_.emplace_back(std::move(group), arena(), parameters, bounds_);
  }
}

/// Stages follow each other in one place, or in two, so that one can arrive while another is used.
void Fsdp::take_memory() {
  std::int64_t largest = 0;
  for (std::size_t i = 0; i < stages_.size(); ++i) largest = std::max(largest, groups_[i].elements());
  const std::size_t places = stages_.empty() ? 0 : (*prefetch_ ? 2 : 1);
  for (std::size_t i = 0; i < places; ++i) places_.push_back(scratch(largest));
  shared_place_ = scratch(shared().elements());
  gradient_place_ = scratch(largest);
  shared_gradient_place_ = scratch(shared().elements());
}

/// Memory that the collective works on without a copy, where that is possible.
at::Tensor Fsdp::scratch(std::int64_t elements) {
  const at::TensorOptions options = arena().parameters().options();
  if (!options.device().is_cpu() || replica().world == nullptr || elements == 0) return at::empty({elements}, options);
  const DType dtype = arena().layout().dtype;
  const Buffer memory = world().allocate(static_cast<std::uint64_t>(elements) * size_of(dtype));
  return view_of({.dtype = dtype, .shape = {elements}, .offset = 0, .buffer = memory});
}

Holdings Fsdp::holdings() const {
  const std::uint64_t own = arena().shard().end - arena().shard().begin;
  Holdings result{.parameters = own,
                  .gradients = own,
                  .peak_parameters = own + shared_place_.nbytes(),
                  .peak_gradients = own + gradient_place_.nbytes() + shared_gradient_place_.nbytes(),
                  .whole_parameters = arena().layout().parameter_bytes};
  for (const at::Tensor& place : places_) result.peak_parameters += place.nbytes();
  return result;
}

void Fsdp::tell() const {
  if (stages_.empty()) {
    context().log->warn(
        "{}: the model is one piece: all parameters are brought together during a step, and nothing of them is saved",
        where());
  }
  const Holdings held = holdings();
  context().log->info(
      "{}: rank {} holds {} of {} parameter bytes outside the group in use (largest group {}, {} in memory at a time; "
      "{} shared by stages), {} of {} gradient bytes",
      where(), context().rank, held.parameters, held.whole_parameters, places_.empty() ? 0 : places_[0].nbytes(),
      places_.size(), groups_.back().bytes(), held.gradients, held.whole_parameters);
}

/// All ranks have drawn the same parameters, or restored each its own part.
void Fsdp::start() {
  if (replica().world != nullptr && arena().has_buffers()) broadcast(arena().buffers(), 0).wait();
}

void Fsdp::gather(ShardedGroup& group, const at::Tensor& memory) {
  group.gather(memory, [this](at::Tensor flat, std::span<const std::uint64_t> parts) {
    return replica().world == nullptr ? Pending() : all_gather(std::move(flat), parts);
  });
}

void Fsdp::request(std::size_t stage) {
  if (stage < stages_.size()) gather(groups_[stage], places_[stage % places_.size()]);
}

/// Makes a stage usable. `next` is the one that will be asked for after it.
void Fsdp::use(std::size_t stage, std::size_t next) {
  if (!groups_[stage].is_gathered()) {
    const TraceSpan span(replica().trace, "wait for parameters", "communication");
    if (!groups_[stage].is_coming()) request(stage);
    groups_[stage].wait();
  }
  if (*prefetch_) request(next);
}

void Fsdp::gather_shared() {
  gather(shared(), shared_place_);
  shared().wait();
}

at::Tensor Fsdp::train(const ModelBatch& batch, double weight, bool /*last*/) {
  step(&batch, weight);
  return std::exchange(loss_, at::Tensor()).detach();
}

void Fsdp::train_nothing(bool /*last*/) { step(nullptr, 0); }

/// Without a batch it takes part in what the others do, with gradients of zero.
void Fsdp::step(const ModelBatch* batch, double weight) {
  gather_shared();
  forward_stages(batch);
  shared().collect_gradients(shared_gradient_place_);
  backward_stages(batch != nullptr, weight);
  shared().release();
  reduce(shared());
  finish_reduction();
}

/// The last stage stays: backward begins with it.
void Fsdp::forward_stages(const ModelBatch* batch) {
  if (stages_.empty() && batch != nullptr) loss_ = forward(*batch);
  for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
    use(stage, stage + 1);
    if (batch != nullptr) forward_stage(stage, *batch);
    if (stage + 1 < stages_.size()) groups_[stage].release();
  }
}

void Fsdp::forward_stage(std::size_t stage, const ModelBatch& batch) {
  const TraceSpan span(replica().trace, "forward", "compute");
  const ForwardScope scope = replica().forward_scope();
  if (stage == 0) inputs_[0] = model().stage_input(batch);
  outputs_[stage] = stages_[stage].forward(inputs_[stage]);
  inputs_[stage + 1] = outputs_[stage].detach().set_requires_grad(true);
  if (stage + 1 == stages_.size()) loss_ = replica().check_loss(model().loss(inputs_.back(), batch));
}

void Fsdp::backward_stages(bool has_samples, double weight) {
  if (has_samples) loss_ = backward(std::move(loss_), weight);
  for (std::size_t stage = stages_.size(); stage-- > 0;) {
    use(stage, stage > 0 ? stage - 1 : kNone);
    finish_reduction();  // Of the stage that was in the place before.
    groups_[stage].collect_gradients(gradient_place_);
    if (has_samples) backward_stage(stage);
    groups_[stage].release();
    reduce(groups_[stage]);
  }
}

void Fsdp::backward_stage(std::size_t stage) {
  const TraceSpan span(replica().trace, "backward", "compute");
  const at::Tensor output = std::exchange(outputs_[stage], at::Tensor());
  const at::Tensor next_input = std::exchange(inputs_[stage + 1], at::Tensor());
  if (output.requires_grad()) torch::autograd::backward({output}, {next_input.grad()});
}

void Fsdp::reduce(ShardedGroup& group) {
  finish_reduction();
  group.reduce([this](at::Tensor flat, std::span<const std::uint64_t> parts) {
    return replica().world == nullptr ? Pending() : reduce_scatter(std::move(flat), ReduceOp::kMean, parts);
  });
  reducing_ = &group;
}

void Fsdp::finish_reduction() {
  if (reducing_ == nullptr) return;
  const TraceSpan span(replica().trace, "wait for reductions", "communication");
  std::exchange(reducing_, nullptr)->add_reduced();
}

double Fsdp::sum_over_shards(double value) {
  if (replica().world == nullptr) return value;
  const at::Tensor sum = at::full({1}, value, at::kDouble);
  all_reduce(sum, ReduceOp::kSum).wait();
  return sum.item<double>();
}

std::vector<NamedMetric> Fsdp::evaluate(const ModelBatch& batch) { return evaluate_stages(&batch); }

void Fsdp::evaluate_nothing() { evaluate_stages(nullptr); }

std::vector<NamedMetric> Fsdp::evaluate_stages(const ModelBatch* batch) {
  gather_shared();
  at::Tensor values = batch == nullptr || stages_.empty() ? at::Tensor() : model().stage_input(*batch);
  for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
    use(stage, stage + 1);
    if (batch != nullptr) values = stages_[stage].forward(values);
    groups_[stage].release();
  }
  std::vector<NamedMetric> metrics;
  if (batch != nullptr) metrics = stages_.empty() ? model().evaluation_step(*batch) : model().metrics(values, *batch);
  shared().release();
  return metrics;
}

Prediction Fsdp::predict(const ModelBatch& batch) {
  predict_nothing();
  return model().predict(batch);
}

void Fsdp::predict_nothing() {
  for (ShardedGroup& group : groups_) {
    if (group.is_gathered()) continue;
    gather(group, at::empty({group.elements()}, arena().parameters().options()));
    group.wait();
  }
}

void Fsdp::end_evaluation() {
  for (ShardedGroup& group : groups_) group.release();
}

}  // namespace trainyard

TRAINYARD_STRATEGY(trainyard::Fsdp, "fsdp",
                   "A part of parameters, gradients and optimizer state on every rank; stages are gathered for use.")
