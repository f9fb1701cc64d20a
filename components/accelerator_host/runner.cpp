// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/runner.h"

#include <ATen/Context.h>
#include <fmt/ranges.h>
#include <torch/csrc/autograd/anomaly_mode.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "components/accelerator_host/make_plugins.h"
#include "components/accelerator_host/prepare_model.h"
#include "messages/error.h"
#include "tensors/half_emulation.h"
#include "tensors/norm.h"
#include "tensors/operation_spans.h"
#include "tensors/version.h"

namespace trainyard {
namespace {

std::uint64_t batch_bytes(const DatasetInfo& data) {
  std::uint64_t bytes = 0;
  for (const DatasetField& field : data.fields) bytes += checked_bytes(static_cast<DType>(field.dtype), field.shape);
  return bytes * data.batch_size;
}

DeviceMemory own_memory_of(ClaimedDevice& device) {
  return {.device = device.torch_device(),
          .name = device.name(),
          .copy = [&device](at::Tensor to, const at::Tensor& from) { device.copy_block(std::move(to), from); },
          .native = device.native(),
          .prepare = [&device](const Buffer& block) { device.prepare_for_copies(block); },
          .link = device.link_bytes()};
}

/// Lets an optimizer in another process work on the device, if possible. An optimizer that should work there, and
/// cannot, reports an error; the line in the log says why it cannot.
void share(Arena& arena, const PluginContext& context) {
  try {
    arena.share();
  } catch (const Error& error) {
    if (error.code() != Code::kUnsupported) throw;
    context.log->info("{}: no optimizer in another process can work on the device: {}", context.where, error.what());
  }
}

}  // namespace

Runner::Runner(const RunnerOptions& options, const ComponentContext& context)
    : options_(options),
      context_(context),
      accelerator_(make_accelerator(options.accelerator, context)),
      model_(make_model(options.model, context)),
      strategy_(make_strategy(options.strategy, context, *accelerator_, *model_)) {
  if (options_.timeline) trace_.emplace(context_.rank);
  check_precision();
  strategy_->check_world_size(context_.world_size);
  device_index();
}

/// The planner, which checks launch files, normally refuses such a setting. This check is for accelerator hosts that
/// are constructed without a plan.
void Runner::check_precision() const {
  const std::vector<std::string> served = accelerator_->traits().precisions;
  if (std::ranges::find(served, options_.precision.name) != served.end()) return;
  throw Error(Code::kUnsupported, "{}: precision '{}' is not supported by accelerator '{}'; it has: {}", context_.where,
              options_.precision.name, options_.accelerator.plugin, fmt::join(served, ", "));
}

int Runner::device_index() const {
  const std::vector<int> indices = accelerator_->parse_devices(options_.devices);
  return indices[context_.rank_here() % indices.size()];
}

void Runner::build(const DatasetInfo& data) {
  // A device may set itself up in another way for deterministic results.
  at::globalContext().setDeterministicAlgorithms(options_.deterministic, /*warn_only=*/false);
  device_ = accelerator_->claim(device_index());
  const AcceleratorTraits traits = accelerator_->traits();
  batches_.emplace(*device_, options_.precision, /*own_memory=*/!traits.host_memory);
  scaling_.emplace(GradientScaling::Options{
      .where = context_.where,
      .accelerator = options_.accelerator.plugin,
      .clipping_allowed = traits.gradient_clipping,
      .loss = options_.precision.scales_loss ? std::optional(options_.loss_scaling) : std::nullopt,
      .skips_not_finite = options_.on_nan == OnNan::kSkip});
  torch::autograd::AnomalyMode::set_enabled(options_.detect_anomaly);
  random_.emplace(*device_, context_.seed, context_.rank);
  random_->draw_initial([&] { model_->build(data); });
  apply_precision(*model_, options_.precision);
  world_.emplace(context_, options_.collective, options_.collective_timeout);
  world_->count_copies(device_->link_bytes());
  check_same_model(*model_, *world_, context_.where);
  // The model gets its own collective, because its operations must not be mixed with those of the strategy, which all
  // ranks must call in the same order.
  if (!world_->is_alone()) {
    model_->join([this] { return make_world(context_, "model", options_.collective, options_.collective_timeout); });
  }
  make_arena(data);
  emulate_half();
  mode_.emplace(*model_, *strategy_);
  evaluator_.emplace(Evaluator::Parts{.model = *model_,
                                      .mode = *mode_,
                                      .batches = *batches_,
                                      .passes = *passes_,
                                      .random = *random_,
                                      .arena = *arena_});
  collect_parts();
}

void Runner::make_arena(const DatasetInfo& data) {
  const ArenaLayout layout = ArenaLayout::of(model_->parameters(), model_->buffers());
  const ArenaShard shard = strategy_->shard(layout);
  check_memory(layout.bytes_of_rank(shard), data);
  arena_ = std::make_unique<Arena>(
      model_->parameters(), model_->buffers(),
      [this](std::size_t bytes) { return device_->allocate_host_block(bytes); },
      accelerator_->traits().host_memory ? DeviceMemory{} : own_memory_of(*device_), shard);
  StepTrace* trace = trace_ ? &*trace_ : nullptr;
  passes_.emplace(Passes::Options{.where = context_.where,
                                  .device = device_->torch_device().type(),
                                  .autocast = autocast_type(),
                                  .on_nan = on_nan(),
                                  .generator = &random_->generator(),
                                  .read_later = [this](const at::Tensor& loss) { return device_->read_later(loss); },
                                  .recorder = recorder(),
                                  .on_unrecorded = [this] { warn_unrecorded("the strategy computes them separately"); },
                                  .trace = trace});
  strategy_->set_up(
      {.model = model_.get(), .arena = arena_.get(), .world = &*world_, .passes = &*passes_, .trace = trace});
}

/// Returns the recorder of the device if passes can be recorded: other ranks exchange gradients during the backward
/// pass, and anomaly detection examines every operation.
WorkRecorder* Runner::recorder() {
  WorkRecorder* recorder = device_->recorder();
  if (recorder == nullptr || (world_->is_alone() && !options_.detect_anomaly)) return recorder;
  warn_unrecorded(options_.detect_anomaly ? "detect_anomaly examines every operation"
                                          : "several ranks exchange gradients during the backward pass");
  return nullptr;
}

void Runner::warn_unrecorded(const char* reason) const {
  context_.log->warn("{}: the passes of a step are not recorded, because {}", context_.where, reason);
}

/// If the loss is scaled, a loss that is not finite is treated as an overflow by the loss scaler, so `on_nan` is not
/// used.
OnNan Runner::on_nan() const {
  if (options_.detect_anomaly) return OnNan::kStop;
  return options_.precision.scales_loss ? OnNan::kIgnore : options_.on_nan;
}

/// Returns the type to which autocast converts. Returns nothing if the precision is not mixed, or if LibTorch cannot
/// compute in this type on the device.
std::optional<at::ScalarType> Runner::autocast_type() const {
  const Precision& precision = options_.precision;
  const bool lacks_half =
      device_->torch_device().type() == at::kCPU && precision.computation == at::kHalf && !kHalfOnCpu;
  if (!precision.mixed() || lacks_half) return {};
  return precision.computation;
}

/// With the precision 16-mixed: if LibTorch cannot compute in float16 on this device, emulates float16.
void Runner::emulate_half() {
  const Precision& precision = options_.precision;
  if (precision.computation != at::kHalf || !precision.mixed() || autocast_type()) return;
  if (arena_->shard().parameters) {
    throw Error(Code::kUnsupported,
                "{}: this LibTorch has no float16 kernels for the CPU, and {} can be emulated only where a rank has "
                "all parameters, which {} does not keep; bf16-mixed or 32-true are allowed",
                context_.where, precision.name, strategy_->where());
  }
  const auto half = std::make_shared<HalfEmulation>(model_->parameters(), *arena_);
  arena_->on_change([half] { half->refresh(); });
  context_.log->warn(
      "{}: this LibTorch has no float16 kernels for the CPU; {} is emulated: weights and their "
      "gradients go through float16, activations stay float32",
      context_.where, precision.name);
}

/// The size of the model is known only now, so the planner cannot make this check.
void Runner::check_memory(std::uint64_t arena, const DatasetInfo& data) const {
  const std::uint64_t limit = accelerator_->traits().memory_limit_bytes;
  const std::uint64_t batch = batch_bytes(data);
  if (limit == 0 || arena + batch <= limit) return;
  const auto place = context_.places.find("accelerator");
  throw Error(Code::kUnsupported,
              "{}{}: {} bytes are not allowed, rule memory_limit_bytes: {}; the arena of model '{}' has {} bytes, a "
              "batch of {} samples has {}",
              place == context_.places.end() ? "" : place->second + ": ", accelerator_->where(), arena + batch, limit,
              options_.model.plugin, arena, data.batch_size, batch);
}

void Runner::collect_parts() {
  std::vector<SavedParts::Part> parts{{"model/" + options_.model.plugin, model_.get()},
                                      {"strategy/" + options_.strategy.plugin, strategy_.get()}};
  if (scaling_->loss_scaler()) parts.push_back({LossScaler::kState, scaling_->loss_scaler()});
  parts_.emplace(SavedParts::Rank{context_.rank, context_.world_size, options_.strategy.plugin}, *random_, *arena_,
                 std::move(parts));
}

void Runner::start() {
  strategy_->start();
  parts_->restore();
}

at::Tensor Runner::train(const Batch& batch, std::uint64_t step, double weight, bool last) {
  const OperationSpans operations;
  mode_->train();
  at::Tensor loss = strategy_->train({.data = batches_->take(batch),
                                      .samples = batch.samples,
                                      .weight = scaling_->scaled(weight),
                                      .loss_scale = scaling_->loss_scale(),
                                      .last = last,
                                      .epoch = batch.epoch,
                                      .index = batch.index,
                                      .step = step});
  batches_->release();
  return loss;
}

StepResult Runner::end_step(const Clipping& clipping, const std::function<void(const StepResult&)>& look) {
  StepResult result = scaling_->end_step(*strategy_, clipping);
  if (look && !result.skipped) look(result);
  if (!result.skipped) arena_->publish_gradients();
  passes_->check_losses();
  return result;
}

std::uint64_t Runner::begin_update(std::uint64_t step) {
  const std::uint64_t update = strategy_->begin_update(step);
  if (update != 0) arena_->begin_update();
  return update;
}

void Runner::end_update(std::uint64_t step) {
  arena_->end_update();
  strategy_->end_update(step);
}

void Runner::check_parameters(std::uint64_t step) const {
  if (options_.on_nan == OnNan::kIgnore || std::isfinite(l2_norm(arena_->own_parameters()))) return;
  throw Error(Code::kInvalidArgument,
              "{}: parameters are not finite after step {}; no checkpoint is taken of them. on_nan = 'ignore' goes on",
              context_.where, step);
}

std::vector<Scalar> Runner::metrics() const {
  std::vector<Scalar> values = scaling_->metrics();
  for (Scalar& value : strategy_->stats()) values.push_back(std::move(value));
  return values;
}

void Runner::finish() {
  if (!trace_) return;
  const std::string folder = context_.output_directory.empty() ? "." : context_.output_directory;
  trace_->write(fmt::format("{}/timeline.rank{}.json", folder, context_.rank));
}

/// Returns the blocks of parameters and gradients that other components access. If the rank's memory is on a device,
/// these are the blocks of the copy in host memory.
ArenaInfo Runner::arena_info(bool optimizer_answers) {
  const bool can_share = !accelerator_->traits().shares_memory_by.empty() && device_->native() != nullptr;
  if (optimizer_answers && can_share && !strategy_->traits().updates_on_host) share(*arena_, context_);
  ArenaInfo info = arena_->info(context_.rank, "cpu", options_.model.plugin);
  info.own_state = strategy_->traits().gradients == GradientsOfRanks::kOwn;
  return info;
}

ModelInfo Runner::model_info() const {
  return {.rank = context_.rank,
          .model = options_.model.plugin,
          .device = device_->name(),
          .precision = options_.precision.name,
          .parameters = arena_->parameter_count(),
          .arena_bytes = arena_->bytes()};
}

}  // namespace trainyard
