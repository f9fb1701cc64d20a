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
#include "tensors/version.h"

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

std::uint64_t batch_bytes(const DatasetInfo& data) {
  std::uint64_t bytes = 0;
  for (const DatasetField& field : data.fields) bytes += checked_bytes(static_cast<DType>(field.dtype), field.shape);
  return bytes * data.batch_size;
}

}  // namespace

Runner::Runner(const RunnerOptions& options, const ComponentContext& context)
    : options_(options),
      precision_(parse_precision(options.precision)),
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
  if (std::find(traits.precisions.begin(), traits.precisions.end(), precision_.name) == traits.precisions.end()) {
    throw Error(Code::kUnsupported, "{}: precision '{}' is not supported by accelerator '{}'; it has: {}",
                context_.where, precision_.name, options_.accelerator.plugin, fmt::join(traits.precisions, ", "));
  }
  strategy_->check_world_size(context_.world_size);
}

void Runner::build(const DatasetInfo& data) {
  accelerator_->claim(device_index_);
  const AcceleratorTraits traits = accelerator_->traits();
  has_own_memory_ = !traits.host_memory;
  clipping_allowed_ = traits.gradient_clipping;
  at::globalContext().setDeterministicAlgorithms(options_.deterministic, /*warn_only=*/false);
  torch::autograd::AnomalyMode::set_enabled(options_.detect_anomaly);
  // Every rank draws the same parameters, and different numbers from then on.
  accelerator_->seed(context_.seed);
  model_->build(data);
  accelerator_->seed(seed_of_rank(context_.seed, context_.rank));
  apply_precision();
  arena_ = std::make_unique<Arena>(
      model_->parameters(), model_->buffers(),
      [this](std::size_t bytes) { return accelerator_->allocate_arena(bytes); }, own_memory());
  check_memory(data);
  if (precision_.scales_loss) scaler_.emplace(options_.loss_scaling);
  if (precision_.computation == at::kHalf && precision_.mixed() && !autocast()) {
    half_.emplace(model_->parameters(), *arena_);
    context_.log->warn(
        "{}: this LibTorch has no float16 kernels for the CPU; {} is emulated: weights and their "
        "gradients go through float16, activations stay float32",
        context_.where, precision_.name);
  }
  model_->set_training(training_);
}

/// Models are built in float32, so that the seed draws the same numbers for every precision; here they get their type.
void Runner::apply_precision() {
  const at::NoGradGuard no_gradients;
  for (const std::vector<NamedTensor>& tensors : {model_->parameters(), model_->buffers()}) {
    for (const NamedTensor& named : tensors) {
      at::Tensor tensor = named.tensor;
      const at::Tensor converted = with_precision(tensor.detach(), precision_);
      if (converted.scalar_type() != tensor.scalar_type()) tensor.set_data(converted);
    }
  }
}

/// Around forward and loss where computation differs from parameters, if LibTorch can.
std::optional<Autocast> Runner::autocast() const {
  const at::DeviceType device = accelerator_->claimed().type();
  const bool lacks_half = device == at::kCPU && precision_.computation == at::kHalf && !kHalfOnCpu;
  if (!precision_.mixed() || lacks_half) return {};
  return std::optional<Autocast>(std::in_place, device, precision_.computation);
}

/// Optimizer and checkpoint writer work on host memory whatever the device is; see docs/decisions/0007.
DeviceMemory Runner::own_memory() const {
  if (!has_own_memory_) return {};
  return {.device = accelerator_->claimed(),
          .copy = [this](at::Tensor to, const at::Tensor& from) { accelerator_->copy_block(std::move(to), from); }};
}

/// The planner cannot know how large a model becomes; this is the first moment at which anybody does.
void Runner::check_memory(const DatasetInfo& data) const {
  const std::uint64_t limit = accelerator_->traits().memory_limit_bytes;
  const std::uint64_t batch = batch_bytes(data);
  if (limit == 0 || arena_->bytes() + batch <= limit) return;
  const auto place = context_.places.find("accelerator");
  throw Error(Code::kUnsupported,
              "{}{}: {} bytes are not allowed, rule memory_limit_bytes: {}; the arena of model '{}' has {} bytes, a "
              "batch of {} samples has {}",
              place == context_.places.end() ? "" : place->second + ": ", accelerator_->where(),
              arena_->bytes() + batch, limit, options_.model.plugin, arena_->bytes(), data.batch_size, batch);
}

/// Views on the message's memory, moved to the device if that has memory of its own.
std::vector<at::Tensor> Runner::move_to_device(const Batch& batch) {
  std::vector<at::Tensor> tensors;
  tensors.reserve(batch.tensors.size());
  for (const Tensor& tensor : batch.tensors) tensors.push_back(views_.view(tensor));
  return accelerator_->to_device(std::move(tensors));
}

void Runner::prefetch(const Batch& batch) {
  if (!has_own_memory_) return;
  prefetched_ = {batch.order, batch.epoch, batch.index, move_to_device(batch)};
  views_.release();
}

ModelBatch Runner::model_batch(const Batch& batch) {
  ModelBatch result{.split = batch.split, .tensors = {}};
  const bool is_there = prefetched_ && prefetched_->is(batch);
  result.tensors = is_there ? std::move(prefetched_->tensors) : move_to_device(batch);
  if (is_there) prefetched_.reset();
  for (at::Tensor& tensor : result.tensors) tensor = with_precision(tensor, precision_);
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
  at::Tensor loss;
  {
    const std::optional<Autocast> mixed = autocast();
    loss = model_->training_step(model_batch(batch));
  }
  // Half of a loss scale, or of a weight such as 1/3, does not fit into 16 bits.
  if (loss.scalar_type() == at::kHalf || loss.scalar_type() == at::kBFloat16) loss = loss.to(at::kFloat);
  if (options_.detect_anomaly) check_finite(loss, batch);
  // Weight and loss scale enter as the seed of the backward pass: the loss itself needs no further operation.
  if (scaler_) weight *= scaler_->scale();
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

/// A restored checkpoint is in host memory; a strategy may change the parameters of the device.
void Runner::start() {
  arena_->fetch_all();
  strategy_->start(arena_->parameters());
  arena_->publish_parameters();
  if (half_) half_->refresh();  // A checkpoint, or another rank, may have changed the masters.
}

/// Only a strategy that has touched the parameters makes a second copy necessary.
void Runner::after_update() {
  arena_->fetch_parameters();
  const auto version = arena_->parameters()._version();
  strategy_->after_update(arena_->parameters());
  if (arena_->parameters()._version() != version) arena_->publish_parameters();
  if (half_) half_->refresh();
}

/// Clipping comes after the reduction, so that all ranks see the norm of the same, averaged gradient. The scale is left
/// to the optimizer, whose pass reads every gradient anyway.
ClippedGradients Runner::finish_gradients(const Clipping& clipping) {
  at::Tensor gradients = arena_->gradients();
  const Bucket all{.index = 0, .count = 1, .offset_bytes = 0, .bytes = gradients.nbytes()};
  strategy_->reduce(all, gradients).wait();
  ClippedGradients result;
  // Clipping may have been switched on since the plan was made, by a parameter.
  if ((clipping.norm > 0 || clipping.value > 0) && !clipping_allowed_) {
    throw Error(Code::kUnsupported,
                "{}: clip_norm = {} and clip_value = {} are not allowed with the accelerator '{}', rule "
                "gradient_clipping: none, that is 0",
                context_.where, clipping.norm, clipping.value, options_.accelerator.plugin);
  }
  if (scaler_ && scaled_gradients_overflow(gradients, result)) return result;
  // What lies in the arena is `1 / result.scale` times the gradient, until the optimizer multiplies.
  if (clipping.value > 0) gradients.clamp_(-clipping.value / result.scale, clipping.value / result.scale);
  if (clipping.norm > 0) {
    result.norm = l2_norm(gradients) * result.scale;
    result.scale *= std::min(1.0, clipping.norm / (result.norm + kNormEpsilon));
  }
  arena_->publish_gradients();
  return result;
}

/// One pass tells of all gradients: their norm is finite unless one of them is not (or is beyond 1e19, which no scale
/// makes useful).
bool Runner::scaled_gradients_overflow(const at::Tensor& gradients, ClippedGradients& result) {
  result.scale = 1 / scaler_->scale();
  result.overflow = !std::isfinite(l2_norm(gradients));
  scaler_->update(!result.overflow);
  return result.overflow;
}

void Runner::drop_gradients() { arena_->gradients().view(-1).zero_(); }

std::vector<NamedMetric> Runner::evaluate(const Batch& batch) {
  const at::NoGradGuard no_gradients;
  const std::optional<Autocast> mixed = autocast();
  set_training(false);
  std::vector<NamedMetric> metrics = model_->evaluation_step(model_batch(batch));
  views_.release();
  return metrics;
}

Prediction Runner::predict(const Batch& batch) {
  const at::NoGradGuard no_gradients;
  const std::optional<Autocast> mixed = autocast();
  set_training(false);
  Prediction prediction = model_->predict(model_batch(batch));
  views_.release();
  return prediction;
}

Prediction Runner::generate(const std::string& split) {
  const at::NoGradGuard no_gradients;
  const std::optional<Autocast> mixed = autocast();
  set_training(false);
  return model_->predict({.split = split, .tensors = {}});
}

void Runner::sum_over_ranks(std::vector<double>& sums) {
  strategy_->all_reduce_metrics(at::from_blob(sums.data(), {static_cast<std::int64_t>(sums.size())}, at::kDouble));
}

ArenaInfo Runner::arena_info() const {
  // Where the announced blocks are, not where kernels work.
  return arena_->info(context_.rank, "cpu", options_.model.plugin);
}

ModelInfo Runner::model_info() const {
  return {.rank = context_.rank,
          .model = options_.model.plugin,
          .device = accelerator_->claimed_name(),
          .precision = precision_.name,
          .parameters = arena_->parameter_count(),
          .arena_bytes = arena_->bytes()};
}

}  // namespace trainyard
