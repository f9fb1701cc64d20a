// The part of Runner that comes before the first step: plugins, model, arena, the other ranks.
#include "components/accelerator_host/runner.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <fmt/ranges.h>
#include <torch/csrc/autograd/anomaly_mode.h>

#include <algorithm>

#include "components/accelerator_host/make_plugins.h"
#include "messages/error.h"
#include "tensors/version.h"

namespace trainyard {
namespace {

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
      model_(make_model(options.model, context)),
      strategy_(make_strategy(options.strategy, context, *accelerator_, *model_)) {
  if (options_.timeline) trace_.emplace(context_.rank);
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
  device_ = accelerator_->claim(device_index_);
  const AcceleratorTraits traits = accelerator_->traits();
  has_own_memory_ = !traits.host_memory;
  clipping_allowed_ = traits.gradient_clipping;
  at::globalContext().setDeterministicAlgorithms(options_.deterministic, /*warn_only=*/false);
  torch::autograd::AnomalyMode::set_enabled(options_.detect_anomaly);
  build_model(data);
  join_world();
  make_arena();
  check_memory(data);
  if (precision_.scales_loss) scaler_.emplace(options_.loss_scaling);
  if (precision_.computation == at::kHalf && precision_.mixed() && !autocast_type()) {
    if (arena_->shard().parameters) {
      throw Error(Code::kUnsupported,
                  "{}: this LibTorch has no float16 kernels for the CPU, and {} can be emulated only where a rank has "
                  "all parameters, which {} does not keep; bf16-mixed or 32-true are allowed",
                  context_.where, precision_.name, strategy_->where());
    }
    half_.emplace(model_->parameters(), *arena_);
    context_.log->warn(
        "{}: this LibTorch has no float16 kernels for the CPU; {} is emulated: weights and their "
        "gradients go through float16, activations stay float32",
        context_.where, precision_.name);
  }
  model_->set_training(training_);
}

/// Every rank draws the same parameters, and different numbers from then on. LibTorch's generator belongs to the
/// process: ranks that are threads of one build in turn, or each would see only some of the draws.
void Runner::build_model(const DatasetInfo& data) {
  const auto held = generator_.hold();
  device_->seed(context_.seed);
  model_->build(data);
  device_->seed(seed_of_rank(context_.seed, context_.rank));
  generator_.adopt();
  apply_precision();
}

std::vector<std::uint8_t> Runner::rng_state() const {
  const auto held = generator_.hold();
  generator_.install();
  return device_->rng_state();
}

void Runner::set_rng_state(const std::vector<std::uint8_t>& state, std::uint64_t step) {
  const auto held = generator_.hold();
  if (context_.rank == 0) {
    device_->set_rng_state(state);
  } else {
    device_->seed(seed_of_rank(context_.seed ^ step, context_.rank));
  }
  generator_.adopt();
}

void Runner::join_world() {
  if (context_.world_size == 1) return;
  world_ = make_world(context_, "world", options_.collective, options_.collective_timeout);
  // Of its own: what a model asks for must not come between what the strategy has under way.
  model_->join([this] { return make_world(context_, "model", options_.collective, options_.collective_timeout); });
  check_same_model();
}

std::unique_ptr<Collective> Runner::make_group(const std::string& name, const std::vector<std::uint32_t>& ranks) const {
  CollectiveContext group;
  static_cast<PluginContext&>(group) = context_;
  group.name = name;
  group.ranks = ranks;
  group.timeout = options_.collective_timeout;
  return make_collective(options_.collective, group);
}

/// Before anything of one rank meets anything of another: what does not fit is told by name, not by a count of bytes.
void Runner::check_same_model() const {
  std::string own;
  for (const ArenaEntry& entry : ArenaLayout::of(model_->parameters(), model_->buffers()).entries) {
    own += fmt::format("{} {} {}\n", entry.name, name_of(static_cast<DType>(entry.dtype)), to_text(entry.shape));
  }
  const std::vector<std::string> all = world_->all_gather_texts(own);
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    const auto [zero, other] = std::ranges::mismatch(all[0], all[rank]);
    const auto line_at = [](const std::string& text, std::string::const_iterator place) {
      const auto offset = static_cast<std::size_t>(place - text.begin());
      const std::size_t begin = offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;
      const std::string line = text.substr(begin, text.find('\n', offset) - begin);
      return line.empty() ? "nothing more" : line;
    };
    throw Error(Code::kShapeMismatch, "{}: the ranks have different models: where rank 0 has '{}', rank {} has '{}'",
                context_.where, line_at(all[0], zero), rank, line_at(all[rank], other));
  }
}

void Runner::make_arena() {
  const ArenaShard shard = strategy_->shard(ArenaLayout::of(model_->parameters(), model_->buffers()));
  arena_ = std::make_unique<Arena>(
      model_->parameters(), model_->buffers(),
      [this](std::size_t bytes) { return device_->allocate_host_block(bytes); }, own_memory(), shard);
  strategy_->set_up({.model = model_.get(),
                     .arena = arena_.get(),
                     .world = world_.get(),
                     .trace = trace_ ? &*trace_ : nullptr,
                     .timeout = options_.collective_timeout,
                     .make_group = [this](const auto& name, const auto& ranks) { return make_group(name, ranks); },
                     .forward_scope = [this] { return forward_scope(&generator_); },
                     .check_loss = [this](at::Tensor loss) { return checked(std::move(loss)); }});
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

/// Of forward and loss where it differs from that of the parameters, if LibTorch can.
std::optional<at::ScalarType> Runner::autocast_type() const {
  const at::DeviceType device = device_->torch_device().type();
  const bool lacks_half = device == at::kCPU && precision_.computation == at::kHalf && !kHalfOnCpu;
  if (!precision_.mixed() || lacks_half) return {};
  return precision_.computation;
}

ForwardScope Runner::forward_scope(RankGenerator* generator) const {
  return ForwardScope(device_->torch_device().type(), autocast_type(), generator);
}

/// Optimizer and checkpoint writer work on host memory whatever the device is; see docs/decisions/0007.
DeviceMemory Runner::own_memory() const {
  if (!has_own_memory_) return {};
  return {.device = device_->torch_device(),
          .copy = [this](at::Tensor to, const at::Tensor& from) { device_->copy_block(std::move(to), from); }};
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

}  // namespace trainyard
