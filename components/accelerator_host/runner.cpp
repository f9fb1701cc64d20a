#include "components/accelerator_host/runner.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "messages/error.h"
#include "tensors/norm.h"

namespace trainyard {
namespace {

constexpr double kNormEpsilon = 1e-6;  ///< Of torch.nn.utils.clip_grad_norm_, whose results are matched.

}  // namespace

/// Views on the message's memory, moved to the device if that has memory of its own.
std::vector<at::Tensor> Runner::move_to_device(const Batch& batch) {
  std::vector<at::Tensor> tensors;
  tensors.reserve(batch.tensors.size());
  for (const Tensor& tensor : batch.tensors) tensors.push_back(views_.view(tensor));
  return device_->to_device(std::move(tensors));
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

at::Tensor Runner::train(const Batch& batch, double weight, bool last) {
  if (batch.samples == 0) {
    strategy_->train_nothing(last);
    return {};
  }
  set_training(true);
  batch_ = &batch;
  if (scaler_) weight *= scaler_->scale();
  at::Tensor loss = strategy_->train(model_batch(batch), weight, last);
  views_.release();
  return loss;
}

/// Half of a loss scale, or of a weight such as 1/3, does not fit into 16 bits.
at::Tensor Runner::checked(at::Tensor loss) const {
  if (loss.scalar_type() == at::kHalf || loss.scalar_type() == at::kBFloat16) loss = loss.to(at::kFloat);
  if (options_.detect_anomaly && batch_ != nullptr) check_finite(loss, *batch_);
  return loss;
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
  strategy_->start();
  arena_->publish_parameters();
  if (half_) half_->refresh();  // A checkpoint, or another rank, may have changed the masters.
}

void Runner::end_update(std::uint64_t step) {
  arena_->fetch_parameters();
  at_moment([&] { strategy_->end_update(step); });
}

/// A moment at which a strategy may change parameters. Only one that has done so makes a copy for the optimizer
/// necessary.
void Runner::at_moment(const std::function<void()>& moment) {
  const auto version = arena_->parameters()._version();
  moment();
  if (arena_->parameters()._version() != version) arena_->publish_parameters();
  if (half_) half_->refresh();
}

void Runner::begin_evaluation() {
  set_training(false);
  at_moment([&] { strategy_->begin_evaluation(); });
}

void Runner::end_evaluation() {
  at_moment([&] { strategy_->end_evaluation(); });
}

void Runner::begin_snapshot() {
  at_moment([&] { strategy_->begin_snapshot(); });
  arena_->publish_buffers();
}

void Runner::finish() {
  if (!trace_) return;
  const std::string folder = context_.output_directory.empty() ? "." : context_.output_directory;
  trace_->write(fmt::format("{}/timeline.rank{}.json", folder, context_.rank));
}

/// Clipping comes after the reduction, so that all ranks see the norm of the same, averaged gradient. The scale is left
/// to the optimizer, whose pass reads every gradient anyway.
StepResult Runner::end_step(const Clipping& clipping) {
  strategy_->finish_gradients();
  at::Tensor gradients = arena_->own_gradients();
  StepResult result;
  // Clipping may have been switched on since the plan was made, by a parameter.
  if ((clipping.norm > 0 || clipping.value > 0) && !clipping_allowed_) {
    throw Error(Code::kUnsupported,
                "{}: clip_norm = {} and clip_value = {} are not allowed with the accelerator '{}', rule "
                "gradient_clipping: none, that is 0",
                context_.where, clipping.norm, clipping.value, options_.accelerator.plugin);
  }
  if (scaler_) {
    const double loss_scale = scaler_->scale();
    if (scaled_gradients_overflow()) return {.skipped = skip_step(loss_scale)};
    result.scale = 1 / loss_scale;
  }
  // What lies in the arena is `1 / result.scale` times the gradient, until the optimizer multiplies.
  if (clipping.value > 0) gradients.clamp_(-clipping.value / result.scale, clipping.value / result.scale);
  if (clipping.norm > 0) {
    result.norm = gradient_norm() * result.scale;
    result.scale *= std::min(1.0, clipping.norm / (result.norm + kNormEpsilon));
  }
  arena_->publish_gradients();
  return result;
}

/// Of all gradients, wherever they are: ranks may have shared them out.
double Runner::gradient_norm() const {
  const double own = l2_norm(arena_->own_gradients());
  // On every rank, also on one that happens to have everything: the others would wait for it.
  const double all = strategy_->sum_over_shards(own * own);
  return all == own * own ? own : std::sqrt(all);
}

/// One pass tells of all gradients: their norm is finite unless one of them is not (or is beyond 1e19, which no scale
/// makes useful).
bool Runner::scaled_gradients_overflow() {
  const bool overflow = strategy_->overflow_anywhere(!std::isfinite(gradient_norm()));
  scaler_->update(!overflow);
  return overflow;
}

SkippedStep Runner::skip_step(double loss_scale) {
  give_up_step();
  return {.loss_scale = loss_scale, .next_loss_scale = scaler_->scale(), .skipped = scaler_->skipped()};
}

void Runner::give_up_step() {
  at_moment([&] { strategy_->drop_gradients(); });
}

std::vector<NamedMetric> Runner::evaluate(const Batch& batch) {
  const at::NoGradGuard no_gradients;
  set_training(false);
  if (batch.samples == 0) {
    strategy_->evaluate_nothing();
    return {};
  }
  const ForwardScope scope = forward_scope();
  std::vector<NamedMetric> metrics = strategy_->evaluate(model_batch(batch));
  views_.release();
  return metrics;
}

std::optional<Prediction> Runner::predict(const Batch& batch) {
  const at::NoGradGuard no_gradients;
  set_training(false);
  if (batch.samples == 0) {
    strategy_->predict_nothing();
    return {};
  }
  const ForwardScope scope = forward_scope();
  Prediction prediction = strategy_->predict(model_batch(batch));
  views_.release();
  return prediction;
}

Prediction Runner::generate(const std::string& split) {
  const at::NoGradGuard no_gradients;
  const ForwardScope scope = forward_scope(&generator_);
  set_training(false);
  return strategy_->predict({.split = split, .tensors = {}});
}

std::vector<Scalar> Runner::metrics() const {
  std::vector<Scalar> values;
  if (scaler_) {
    values.push_back({"loss_scale", scaler_->scale()});
    values.push_back({"skipped_steps", static_cast<double>(scaler_->skipped())});
  }
  for (Scalar& value : strategy_->stats()) values.push_back(std::move(value));
  return values;
}

ArenaInfo Runner::arena_info() const {
  // Where the announced blocks are, not where kernels work.
  ArenaInfo info = arena_->info(context_.rank, "cpu", options_.model.plugin);
  strategy_->announce(info);
  return info;
}

ModelInfo Runner::model_info() const {
  return {.rank = context_.rank,
          .model = options_.model.plugin,
          .device = device_->name(),
          .precision = precision_.name,
          .parameters = arena_->parameter_count(),
          .arena_bytes = arena_->bytes()};
}

}  // namespace trainyard
