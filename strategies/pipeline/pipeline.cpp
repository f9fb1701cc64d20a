#include "strategies/pipeline/pipeline.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <fmt/ranges.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <sstream>

#include "strategies/step_trace.h"
#include "tensors/bridge.h"
#include "tensors/replace_data.h"

namespace trainyard {
namespace {

/// What decides about the shapes between stages: that of the input, and whether autocast may see it otherwise.
StageLink::Key key_of(const ModelBatch& batch) {
  StageLink::Key key = batch.tensors.at(0).sizes().vec();
  key.push_back(at::GradMode::is_enabled() ? 1 : 0);
  return key;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

ArenaShard Pipeline::shard(const ArenaLayout& layout) const {
  const Placement placement = place_stages(context().model->stages(), layout, context().world_size, where());
  return {.begin = placement.bytes[rank()],
          .end = placement.bytes[rank() + 1],
          .gradients = true,
          .parameters = true,
          .in_place = true};
}

void Pipeline::set_up(const Replica& replica) {
  Strategy::set_up(replica);
  stages_ = model().stages();
  placement_ = place_stages(stages_, arena().layout(), context().world_size, where());
  const at::Device device = arena().parameters().device();
  if (!is_first()) previous_.emplace(world(), rank() - 1, device);
  if (!is_last()) next_.emplace(world(), rank() + 1, device);
  release_others();
  context().log->info("{}: rank {} has stages '{}' to '{}', {} of {} parameter bytes", where(), rank(),
                      stages_[placement_.stages[rank()]].name, stages_[placement_.stages[rank() + 1] - 1].name,
                      arena().shard().end - arena().shard().begin, arena().layout().parameter_bytes);
}

/// Takes the memory of all parameters that other ranks have.
void Pipeline::release_others() {
  const std::vector<NamedTensor> parameters = model().parameters();
  const std::uint64_t size = size_of(arena().layout().dtype);
  const ArenaShard& own = arena().shard();
  others_ =
      BorrowedBlock(static_cast<std::int64_t>(arena().layout().parameter_bytes / size), arena().parameters().options());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const ArenaEntry& entry = arena().layout().entries[i];
    if (entry.offset_bytes >= own.begin && entry.offset_bytes < own.end) continue;
    replace_data(parameters[i].tensor, others_.view(static_cast<std::int64_t>(entry.offset_bytes / size), entry.shape));
  }
}

/// All ranks have drawn the same parameters, or restored each its own.
void Pipeline::start() {
  if (replica().world != nullptr && arena().has_buffers()) broadcast(arena().buffers(), 0).wait();
}

/// As PyTorch's tensor_split does it: sizes differ by one at most.
std::vector<Pipeline::MicroBatch> Pipeline::cut(const ModelBatch& batch) const {
  const std::int64_t samples = batch.tensors.at(0).size(0);
  const std::int64_t wanted = *micro_batches_ > 0 ? *micro_batches_ : static_cast<std::int64_t>(ranks());
  const std::int64_t count = std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(samples, 1));
  std::vector<MicroBatch> parts(static_cast<std::size_t>(count));
  std::int64_t begin = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t length = samples / count + (i < samples % count ? 1 : 0);
    MicroBatch& part = parts[static_cast<std::size_t>(i)];
    part.batch.split = batch.split;
    part.share = static_cast<double>(length) / static_cast<double>(samples);
    for (const at::Tensor& tensor : batch.tensors) part.batch.tensors.push_back(tensor.narrow(0, begin, length));
    begin += length;
  }
  return parts;
}

std::vector<PipelineAction> Pipeline::schedule(std::size_t micro_batches) const {
  return *schedule_ == "gpipe" ? gpipe(micro_batches) : one_forward_one_backward(micro_batches, rank(), ranks());
}

at::Tensor Pipeline::train(const ModelBatch& batch, double weight, bool /*last*/) {
  std::vector<MicroBatch> parts = cut(batch);
  const std::vector<PipelineAction> actions = schedule(parts.size());
  loss_ = 0;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    MicroBatch& part = parts[actions[i].micro_batch];
    if (actions[i].kind == PipelineAction::kForward) {
      forward_one(part);
      continue;
    }
    const bool forward_follows = i + 1 < actions.size() && actions[i + 1].kind == PipelineAction::kForward;
    backward_one(part, weight, forward_follows ? &parts[actions[i + 1].micro_batch] : nullptr);
  }
  if (previous_) previous_->flush();
  if (next_) next_->flush();
  return share_numbers({loss_})[0];
}

at::Tensor Pipeline::input_of(const ModelBatch& batch) {
  if (is_first()) return model().stage_input(batch);
  const TraceSpan span(replica().trace, "wait for the stage before", "communication");
  return previous_->receive(key_of(batch));
}

at::Tensor Pipeline::run_stages(at::Tensor values) const {
  for (std::size_t i = placement_.stages[rank()]; i < placement_.stages[rank() + 1]; ++i) {
    values = stages_[i].forward(values);
  }
  return values;
}

void Pipeline::forward_one(MicroBatch& one) {
  one.input = input_of(one.batch);
  if (!is_first()) one.input.set_requires_grad(true);
  const TraceSpan span(replica().trace, "forward", "compute");
  {
    const ForwardScope scope = replica().forward_scope();
    one.output = run_stages(one.input);
    if (is_last()) one.output = replica().check_loss(model().loss(one.output, one.batch));
  }
  if (is_last()) {
    loss_ += one.share * one.output.item<double>();
  } else {
    next_->send(one.output, key_of(one.batch));
  }
  most_held_ = std::max(most_held_, ++held_);
}

/// Neighbours must not both wait for the other to take what they send: the rank behind first asks for the next
/// activations, then sends its gradient; the rank before sends those activations first.
void Pipeline::backward_one(MicroBatch& one, double weight, const MicroBatch* next_forward) {
  if (is_last()) {
    backward(std::move(one.output), weight * one.share);
  } else {
    const at::Tensor gradient = next_->receive(key_of(one.batch));
    const TraceSpan span(replica().trace, "backward", "compute");
    torch::autograd::backward({std::move(one.output)}, {gradient});
  }
  one.output = at::Tensor();
  --held_;
  if (is_first()) return;
  if (next_forward != nullptr) previous_->expect(key_of(next_forward->batch));
  previous_->send(one.input.grad(), key_of(one.batch));
  one.input = at::Tensor();
}

/// Those of the last rank, on all.
at::Tensor Pipeline::share_numbers(std::vector<double> numbers) const {
  const at::Tensor all = at::empty({static_cast<std::int64_t>(numbers.size())}, at::kDouble);
  std::ranges::copy(numbers, all.data_ptr<double>());
  if (replica().world != nullptr) broadcast(all, ranks() - 1).wait();
  return all;
}

double Pipeline::sum_over_shards(double value) {
  if (replica().world == nullptr) return value;
  const at::Tensor sum = at::full({1}, value, at::kDouble);
  all_reduce(sum, ReduceOp::kSum).wait();
  return sum.item<double>();
}

/// A batch goes through the ranks as a whole; the last one tells the others what came out.
std::vector<NamedMetric> Pipeline::evaluate(const ModelBatch& batch) {
  const at::Tensor output = run_stages(input_of(batch));
  std::vector<NamedMetric> metrics;
  if (is_last()) {
    metrics = model().metrics(output, batch);
  } else {
    next_->send(output, key_of(batch));
    next_->flush();
  }
  if (replica().world == nullptr) return metrics;
  if (metric_names_.empty()) {
    std::string names;
    for (const NamedMetric& metric : metrics) names += metric.name + "\n";
    metric_names_ = lines_of(world().all_gather_texts(names).back());
  }
  std::vector<double> numbers(metric_names_.size());
  for (std::size_t i = 0; i < metrics.size(); ++i) numbers[i] = metrics[i].value.item<double>();
  const at::Tensor shared = share_numbers(std::move(numbers));
  metrics.clear();
  for (std::size_t i = 0; i < metric_names_.size(); ++i) {
    metrics.push_back({metric_names_[i], shared[static_cast<std::int64_t>(i)]});
  }
  return metrics;
}

Prediction Pipeline::predict(const ModelBatch& batch) {
  if (replica().world != nullptr && !others_.has_memory()) gather_parameters();
  return model().predict(batch);
}

/// All of them, on every rank, until end_evaluation().
void Pipeline::gather_parameters() {
  share_buffers();
  const at::NoGradGuard no_gradients;
  const at::Tensor memory = at::empty({others_.flat().numel()}, arena().parameters().options());
  const auto size = static_cast<std::uint64_t>(memory.element_size());
  for (std::uint32_t one = 0; one < ranks(); ++one) {
    const auto begin = static_cast<std::int64_t>(placement_.bytes[one] / size);
    const auto end = static_cast<std::int64_t>(placement_.bytes[one + 1] / size);
    broadcast(one == rank() ? arena().own_parameters() : memory.narrow(0, begin, end - begin), one).wait();
  }
  others_.lend(memory);
}

/// A running mean is known where its stage is.
void Pipeline::share_buffers() const {
  if (replica().world == nullptr || !arena().has_buffers()) return;
  const at::NoGradGuard no_gradients;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    for (const NamedTensor& buffer : stages_[i].buffers) {
      broadcast(buffer.tensor.view(-1), static_cast<std::uint32_t>(placement_.rank_of_stage(i))).wait();
    }
  }
}

std::vector<Scalar> Pipeline::stats() const {
  return {{"micro_batches_held", static_cast<double>(most_held_)},
          {"parameter_bytes", static_cast<double>(arena().shard().end - arena().shard().begin)}};
}

}  // namespace trainyard

TRAINYARD_STRATEGY(trainyard::Pipeline, "pipeline",
                   "The stages of a model over the ranks, through which micro-batches go; gpipe or 1f1b.")
