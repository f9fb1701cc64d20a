#include "components/accelerator_host/runner.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <fmt/ranges.h>
#include <torch/csrc/autograd/anomaly_mode.h>

#include <algorithm>
#include <cmath>

#include "components/accelerator_host/make_plugins.h"
#include "messages/error.h"
#include "tensors/norm.h"

namespace trainyard {
namespace {

constexpr double kNormEpsilon = 1e-6;  ///< Of torch.nn.utils.clip_grad_norm_, whose results are matched.

/// Different for every rank, so that no two drop out the same units; a step of splitmix64.
std::uint64_t seed_of_rank(std::uint64_t seed, std::uint32_t rank) {
  std::uint64_t mixed = seed + 0x9e3779b97f4a7c15ULL * (rank + 1ULL);
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
  return mixed ^ (mixed >> 31);
}

}  // namespace

Runner::Runner(const RunnerOptions& options, const ComponentContext& context)
    : options_(options),
      context_(context),
      accelerator_(make_accelerator(options.accelerator, context)),
      strategy_(make_strategy(options.strategy, context, *accelerator_)),
      model_(make_model(options.model, context)) {
  check_fit();
  const std::vector<int> indices = accelerator_->parse_devices(options_.devices);
  device_index_ = indices[context_.rank % indices.size()];
}

/// What the plan should have refused already; a host that is started by hand finds it here.
void Runner::check_fit() const {
  const AcceleratorTraits traits = accelerator_->traits();
  if (std::find(traits.precisions.begin(), traits.precisions.end(), options_.precision) == traits.precisions.end()) {
    throw Error(Code::kUnsupported,
                "{}: precision '{}' is not supported by accelerator '{}'; it has: {} (64-true, 16-mixed and bf16-mixed "
                "are coming)",
                context_.where, options_.precision, options_.accelerator.plugin, fmt::join(traits.precisions, ", "));
  }
  strategy_->check_world_size(context_.world_size);
}

void Runner::build(const DatasetInfo& data) {
  accelerator_->set_up(device_index_);
  at::globalContext().setDeterministicAlgorithms(options_.deterministic, /*warn_only=*/false);
  torch::autograd::AnomalyMode::set_enabled(options_.detect_anomaly);
  // Every rank draws the same parameters, and different numbers from then on.
  accelerator_->seed(context_.seed);
  model_->build(data);
  accelerator_->seed(seed_of_rank(context_.seed, context_.rank));
  arena_ = std::make_unique<Arena>(model_->parameters(), model_->buffers(),
                                   [this](std::size_t bytes) { return accelerator_->allocate_arena(bytes); });
  model_->set_training(training_);
}

/// Views on the message's memory, moved to the device if that has memory of its own.
ModelBatch Runner::model_batch(const Batch& batch) {
  ModelBatch result{.split = batch.split, .tensors = {}};
  result.tensors.reserve(batch.tensors.size());
  for (const Tensor& tensor : batch.tensors) result.tensors.push_back(views_.view(tensor));
  result.tensors = accelerator_->to_device(std::move(result.tensors));
  return result;
}

/// Models may have much to switch, so only changes are passed on.
void Runner::set_training(bool training) {
  if (training == training_) return;
  model_->set_training(training);
  training_ = training;
}

at::Tensor Runner::train(const Batch& batch, double weight) {
  set_training(true);
  at::Tensor loss = model_->training_step(model_batch(batch));
  if (options_.detect_anomaly) check_finite(loss, batch);
  // The weight enters as the seed of the backward pass: the loss itself needs no further operation.
  if (!weight_.defined() || weight_value_ != weight) {
    weight_ = at::full({}, weight, loss.options());
    weight_value_ = weight;
  }
  loss.backward(weight_);
  at::Tensor value = loss.detach();
  loss.reset();  // Frees the graph, so that nothing holds on to the batch.
  views_.release();
  return value;
}

void Runner::check_finite(const at::Tensor& loss, const Batch& batch) const {
  const auto value = loss.item<double>();
  if (std::isfinite(value)) return;
  throw Error(Code::kInvalidArgument, "{}: the loss is {} in batch {} of epoch {} ({}); it must be finite",
              context_.where, value, batch.index, batch.epoch, batch.split);
}

/// Clipping comes after the reduction, so that all ranks see the norm of the same, averaged gradient. The scale is left
/// to the optimizer, whose pass reads every gradient anyway.
ClippedGradients Runner::finish_gradients(const Clipping& clipping) {
  at::Tensor gradients = arena_->gradients();
  const Bucket all{.index = 0, .count = 1, .offset_bytes = 0, .bytes = gradients.nbytes()};
  strategy_->reduce(all, gradients).wait();
  ClippedGradients result;
  if (clipping.value > 0) gradients.clamp_(-clipping.value, clipping.value);
  if (clipping.norm > 0) {
    result.norm = l2_norm(gradients);
    result.scale = std::min(1.0, clipping.norm / (result.norm + kNormEpsilon));
  }
  return result;
}

void Runner::drop_gradients() { arena_->gradients().view(-1).zero_(); }

std::vector<NamedMetric> Runner::evaluate(const Batch& batch) {
  const at::NoGradGuard no_gradients;
  set_training(false);
  std::vector<NamedMetric> metrics = model_->evaluation_step(model_batch(batch));
  views_.release();
  return metrics;
}

Prediction Runner::predict(const Batch& batch) {
  const at::NoGradGuard no_gradients;
  set_training(false);
  Prediction prediction = model_->predict(model_batch(batch));
  views_.release();
  return prediction;
}

Prediction Runner::generate(const std::string& split) {
  const at::NoGradGuard no_gradients;
  set_training(false);
  return model_->predict({.split = split, .tensors = {}});
}

void Runner::sum_over_ranks(std::vector<double>& sums) {
  strategy_->all_reduce_metrics(at::from_blob(sums.data(), {static_cast<std::int64_t>(sums.size())}, at::kDouble));
}

ArenaInfo Runner::arena_info() const {
  return arena_->info(context_.rank, accelerator_->device(device_index_).str(), options_.model.plugin);
}

ModelInfo Runner::model_info() const {
  return {.rank = context_.rank,
          .model = options_.model.plugin,
          .device = accelerator_->device(device_index_).str(),
          .precision = options_.precision,
          .parameters = arena_->parameter_count(),
          .arena_bytes = arena_->bytes()};
}

}  // namespace trainyard
