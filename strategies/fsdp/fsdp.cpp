// SPDX-License-Identifier: Apache-2.0
#include "strategies/fsdp/fsdp.h"

#include <torch/csrc/autograd/autograd.h>

#include <utility>

namespace trainyard {
namespace {

/// Evaluates stage by stage, and gathers each stage just before it is used. A prediction runs the model as a whole, so
/// for predictions all stages are gathered together.
class StagewiseEvaluation final : public Evaluation {
 public:
  StagewiseEvaluation(const std::vector<Stage>& stages, fsdp::StageGroups& groups) : stages_(stages), groups_(groups) {}

  std::vector<NamedMetric> evaluate(Model& model, const ModelBatch& batch) override {
    const bool empty = batch.tensors.empty();
    groups_.use_shared();
    at::Tensor values = empty || stages_.empty() ? at::Tensor() : model.stage_input(batch);
    for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
      groups_.use(stage, stage + 1);
      if (!empty) values = stages_[stage].forward(values);
      groups_.release(stage);
    }
    std::vector<NamedMetric> metrics;
    if (!empty) metrics = stages_.empty() ? model.evaluation_step(batch) : model.metrics(values, batch);
    groups_.release_shared();
    return metrics;
  }

  void gather_model() override { groups_.gather_all(); }
  void end(ArenaEdit& /*edit*/) override { groups_.release_all(); }

 private:
  const std::vector<Stage>& stages_;
  fsdp::StageGroups& groups_;
};

}  // namespace

ArenaShard Fsdp::shard(const ArenaLayout& layout) const {
  const std::vector<std::uint64_t> parts = shard_bounds(layout.parameter_bytes, context().world_size);
  return {.begin = parts[context().rank],
          .end = parts[context().rank + 1],
          .gradients = true,
          .parameters = true,
          .in_place = false};
}

void Fsdp::prepare() {
  stages_ = model().stages();
  inputs_.resize(stages_.size() + 1);
  outputs_.resize(stages_.size());
  groups_.emplace(stages_, model().parameters(), arena(), world(), trace(), *prefetch_);
  tell();
}

void Fsdp::tell() const {
  if (stages_.empty()) {
    context().log->warn(
        "{}: the model is one piece: all parameters are brought together during a step, and nothing of them is saved",
        where());
  }
  const Holdings held = groups_->holdings();
  context().log->info(
      "{}: rank {} holds {} of {} parameter bytes outside the group in use ({}), {} of {} gradient bytes", where(),
      context().rank, held.parameters, held.whole_parameters, groups_->text(), held.gradients, held.whole_parameters);
}

/// Parameters need not be exchanged: all ranks have initialised them with the same random numbers, or each rank has
/// restored its own part.
void Fsdp::synchronise(ArenaEdit& /*edit*/) {
  if (arena().has_buffers()) world().broadcast(arena().buffers(), 0).wait();
}

/// A rank without samples takes part in the communication, and contributes gradients of zero.
at::Tensor Fsdp::compute(const MicroBatch& batch) {
  groups_->use_shared();
  forward_stages(batch);
  groups_->collect_shared_gradients();
  backward_stages(batch);
  groups_->release_shared();
  groups_->reduce_shared();
  groups_->finish_reduction();
  return std::exchange(loss_, at::Tensor());
}

/// The last stage stays gathered, because the backward pass begins with it.
void Fsdp::forward_stages(const MicroBatch& batch) {
  if (stages_.empty() && !batch.empty()) loss_ = passes().forward(model(), batch);
  for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
    groups_->use(stage, stage + 1);
    if (!batch.empty()) forward_stage(stage, batch);
    if (stage + 1 < stages_.size()) groups_->release(stage);
  }
}

void Fsdp::forward_stage(std::size_t stage, const MicroBatch& batch) {
  const TraceSpan span(trace(), "forward", SpanKind::kForward);
  const ForwardScope scope = passes().training();
  if (stage == 0) inputs_[0] = model().stage_input(batch.data);
  outputs_[stage] = stages_[stage].forward(inputs_[stage]);
  inputs_[stage + 1] = outputs_[stage].detach().set_requires_grad(true);
  if (stage + 1 == stages_.size()) loss_ = passes().loss(model().loss(inputs_.back(), batch.data), batch);
}

void Fsdp::backward_stages(const MicroBatch& batch) {
  if (!batch.empty()) loss_ = passes().backward(std::move(loss_), batch.weight);
  for (std::size_t stage = stages_.size(); stage-- > 0;) {
    groups_->use(stage, stage > 0 ? stage - 1 : fsdp::StageGroups::kNone);
    groups_->collect_gradients(stage);
    if (!batch.empty()) backward_stage(stage);
    groups_->release(stage);
    groups_->reduce(stage);
  }
}

void Fsdp::backward_stage(std::size_t stage) {
  const TraceSpan span(trace(), "backward", SpanKind::kBackward);
  const at::Tensor output = std::exchange(outputs_[stage], at::Tensor());
  const at::Tensor next_input = std::exchange(inputs_[stage + 1], at::Tensor());
  if (output.requires_grad()) torch::autograd::backward({output}, {next_input.grad()});
}

std::unique_ptr<Evaluation> Fsdp::make_evaluation(ArenaEdit& /*edit*/) {
  return std::make_unique<StagewiseEvaluation>(stages_, *groups_);
}

}  // namespace trainyard

TRAINYARD_STRATEGY(
    trainyard::Fsdp, "fsdp",
    "Every rank keeps a part of the parameters, gradients and optimizer state; stages are gathered for use.")
