// SPDX-License-Identifier: Apache-2.0
#include "strategies/pipeline/pipeline.h"

#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <sstream>
#include <utility>

namespace trainyard {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Evaluates a batch, without dividing it, rank by rank; the last rank sends the metrics to the others. A prediction
/// runs the model as a whole, so for predictions the parameters of all ranks are gathered until the evaluation ends.
class EvaluationAlongRanks final : public Evaluation {
 public:
  EvaluationAlongRanks(pipeline::Segment& segment, pipeline::OtherRanks& others, World& world)
      : segment_(segment), others_(others), world_(world) {}

  std::vector<NamedMetric> evaluate(Model& model, const ModelBatch& batch) override {
    if (batch.tensors.empty()) return {};  // The batch is then empty on all ranks, because they get the same batches.
    const at::Tensor output = segment_.run(segment_.input_of(batch));
    std::vector<NamedMetric> metrics;
    if (segment_.is_last()) {
      metrics = model.metrics(output, batch);
    } else {
      segment_.send_output(output, batch);
      segment_.flush();
    }
    return world_.is_alone() ? metrics : told(metrics);
  }

  void gather_model() override { others_.gather_parameters(); }
  void end(ArenaEdit& /*edit*/) override { others_.release(); }

 private:
  /// Returns the metrics of the last rank, on every rank. The values of all ranks are merged later, so in place of a
  /// sum the other ranks return 0.
  std::vector<NamedMetric> told(const std::vector<NamedMetric>& own) {
    if (kinds_.empty()) learn_kinds(own);
    std::vector<double> numbers(kinds_.size());
    for (std::size_t i = 0; i < own.size(); ++i) numbers[i] = own[i].value.item<double>();
    const at::Tensor shared = segment_.numbers_of_last(std::move(numbers));
    std::vector<NamedMetric> metrics = kinds_;
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      const bool counts = metrics[i].reduction != Reduction::kSum || segment_.is_last();
      metrics[i].value = counts ? shared[static_cast<std::int64_t>(i)] : at::zeros({}, at::kDouble);
    }
    return metrics;
  }

  /// Sends the names and the reductions of the last rank's metrics to all ranks: one line for each metric, such as
  /// "mean loss".
  void learn_kinds(const std::vector<NamedMetric>& own) {
    std::string text;
    for (const NamedMetric& metric : own) text += fmt::format("{} {}\n", name_of(metric.reduction), metric.name);
    for (const std::string& line : lines_of(world_.all_gather_texts(text).back())) {
      const std::size_t space = line.find(' ');
      kinds_.push_back({line.substr(space + 1), {}, from_name<Reduction>(line.substr(0, space))});
    }
  }

  pipeline::Segment& segment_;
  pipeline::OtherRanks& others_;
  World& world_;
  std::vector<NamedMetric> kinds_;  ///< The metrics without values; the last rank sends their names once.
};

}  // namespace

pipeline::Placement Pipeline::placement(const ArenaLayout& layout) const {
  return pipeline::place_stages(context().model->stages(), layout, context().world_size, where());
}

ArenaShard Pipeline::shard(const ArenaLayout& layout) const {
  const pipeline::Placement placed = placement(layout);
  return {.begin = placed.bytes[context().rank],
          .end = placed.bytes[context().rank + 1],
          .gradients = true,
          .parameters = true,
          .in_place = true};
}

void Pipeline::prepare() {
  segment_.emplace(model(), placement(arena().layout()), world(), arena().parameters().device(), trace());
  others_.emplace(model(), arena(), *segment_, world());
  context().log->info("{}: rank {} has {}, {} of {} parameter bytes", where(), context().rank, segment_->text(),
                      arena().shard().end - arena().shard().begin, arena().layout().parameter_bytes);
}

/// Parameters need not be exchanged: all ranks have initialised them with the same random numbers, or each rank has
/// restored its own part.
void Pipeline::synchronise(ArenaEdit& /*edit*/) {
  if (arena().has_buffers()) world().broadcast(arena().buffers(), 0).wait();
}

/// As in PyTorch's tensor_split, the sizes of the parts differ by at most one.
std::vector<Pipeline::Part> Pipeline::cut(const MicroBatch& batch) const {
  const std::int64_t samples = batch.data.tensors.at(0).size(0);
  const std::int64_t wanted = *micro_batches_ > 0 ? *micro_batches_ : static_cast<std::int64_t>(segment_->ranks());
  const std::int64_t count = std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(samples, 1));
  std::vector<Part> parts(static_cast<std::size_t>(count));
  std::int64_t begin = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t length = samples / count + (i < samples % count ? 1 : 0);
    Part& part = parts[static_cast<std::size_t>(i)];
    part.share = static_cast<double>(length) / static_cast<double>(samples);
    part.batch = {.data = {.split = batch.data.split, .tensors = {}},
                  .samples = static_cast<std::uint64_t>(length),
                  .weight = batch.weight * part.share,
                  .loss_scale = batch.loss_scale,
                  .last = batch.last,
                  .epoch = batch.epoch,
                  .index = batch.index,
                  .step = batch.step};
    for (const at::Tensor& tensor : batch.data.tensors) {
      part.batch.data.tensors.push_back(tensor.narrow(0, begin, length));
    }
    begin += length;
  }
  return parts;
}

std::vector<pipeline::Action> Pipeline::schedule(std::size_t parts) const {
  if (*schedule_ == pipeline::ScheduleKind::kGpipe) return pipeline::gpipe(parts);
  return pipeline::one_forward_one_backward(parts, segment_->rank(), segment_->ranks());
}

at::Tensor Pipeline::compute(const MicroBatch& batch) {
  if (batch.empty()) return {};  // The batch is then empty on all ranks, because they get the same batches.
  std::vector<Part> parts = cut(batch);
  const std::vector<pipeline::Action> actions = schedule(parts.size());
  loss_ = 0;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    Part& part = parts[actions[i].micro_batch];
    if (actions[i].kind == pipeline::Action::kForward) {
      forward(part);
      continue;
    }
    const bool forward_follows = i + 1 < actions.size() && actions[i + 1].kind == pipeline::Action::kForward;
    backward(part, forward_follows ? &parts[actions[i + 1].micro_batch] : nullptr);
  }
  segment_->flush();
  return segment_->numbers_of_last({loss_})[0];
}

void Pipeline::forward(Part& part) {
  part.input = segment_->input_of(part.batch.data);
  if (!segment_->is_first()) part.input.set_requires_grad(true);
  const TraceSpan span(trace(), "forward", SpanKind::kForward);
  {
    const ForwardScope scope = passes().training();
    part.output = segment_->run(part.input);
    if (segment_->is_last()) part.output = passes().loss(model().loss(part.output, part.batch.data), part.batch);
  }
  if (segment_->is_last()) {
    loss_ += part.share * part.output.item<double>();
  } else {
    segment_->send_output(part.output, part.batch.data);
  }
  most_held_ = std::max(most_held_, ++held_);
}

/// To avoid a deadlock, each rank begins to receive the next activations from the previous rank before it sends its
/// gradient to that rank, which sends those activations before it receives the gradient.
void Pipeline::backward(Part& part, const Part* next_forward) {
  if (segment_->is_last()) {
    passes().backward(std::move(part.output), part.batch.weight);
  } else {
    const at::Tensor gradient = segment_->gradient_of_output(part.batch.data);
    const TraceSpan span(trace(), "backward", SpanKind::kBackward);
    torch::autograd::backward({std::move(part.output)}, {gradient});
  }
  part.output = at::Tensor();
  --held_;
  if (segment_->is_first()) return;
  segment_->send_gradient(part.input.grad(), part.batch.data,
                          next_forward != nullptr ? &next_forward->batch.data : nullptr);
  part.input = at::Tensor();
}

std::unique_ptr<Evaluation> Pipeline::make_evaluation(ArenaEdit& /*edit*/) {
  return std::make_unique<EvaluationAlongRanks>(*segment_, *others_, world());
}

std::vector<Scalar> Pipeline::stats() const {
  return {{"micro_batches_held", static_cast<double>(most_held_)},
          {"parameter_bytes", static_cast<double>(arena().shard().end - arena().shard().begin)}};
}

}  // namespace trainyard

TRAINYARD_STRATEGY(trainyard::Pipeline, "pipeline",
                   "Every rank computes a part of the model, and micro-batches pass through all ranks; gpipe or 1f1b.")
