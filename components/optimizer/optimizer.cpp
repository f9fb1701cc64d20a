// SPDX-License-Identifier: Apache-2.0
#include "components/optimizer/optimizer.h"

#include <algorithm>
#include <utility>

#include "components/optimizer/state_blocks.h"
#include "core/plugin/loader.h"
#include "core/spans/span_scope.h"
#include "devices/opened_arena.h"
#include "messages/error.h"

namespace trainyard {
namespace {

/// The smallest allowed eps. With a smaller one, a float32 denominator could become zero, so that elements with zero
/// gradients would become 0 / 0.
constexpr double kSmallestEps = 1e-30;

}  // namespace

void Optimizer::on_configure() {
  try {
    // Only kAsTorch stands for the default; other negative numbers are errors.
    for (const auto* parameter : {&lr_, &weight_decay_, &eps_}) {
      if (**parameter >= 0 || **parameter == kAsTorch) continue;
      throw Error(Code::kInvalidArgument, "{}: {} is not allowed; a number >= 0, or {} for torch's default",
                  parameter->info().name, **parameter, kAsTorch);
    }
    settings_ = read_rule();
    optimizer::check(settings_);
    schedule_settings_ = read_schedule();
    optimizer::check(schedule_settings_);
    groups_ = read_groups();
  } catch (const Error& error) {
    throw Error(error.code(), "{}: {}", where(), error.what());
  }
}

void Optimizer::on_arena(const ArenaInfo& arena) {
  if (arena.device != "cpu") {
    throw Error(Code::kUnsupported, "{} updates parameters in memory of the CPU; the arena of rank {} is on '{}'",
                where(), arena.rank, arena.device);
  }
  for (const auto& pattern : optimizer::unmatched_patterns(arena.entries, groups_)) {
    if (context().rank == 0) log().warn("the pattern '{}' matches no parameter of model '{}'", pattern, arena.model);
  }
  const Tensor& parameters = optimizer::block_of(arena, "parameters");
  const optimizer::Part part = optimizer::part_of(arena);
  // Segments are first made for the whole model, so that parameters outside of this rank's part are checked, too.
  auto segments = optimizer::make_segments(arena.entries, groups_, parameters.dtype, part.whole);
  const auto formula = optimizer::formula_of(settings_, moves_momentum());
  const auto names = optimizer::state_names(formula);
  const auto state = optimizer::state_blocks(names, arena, *initial_accumulator_value_, context());
  find_device(arena);
  pass_ = make_pass(arena, formula, clip(segments, part.begin, part.count), state);
  shared_state_ = arena.shared_state;
  report(arena, state);
  send_state(names, state);
  send_parameters(0, 0);
  arena_known_.arrived();
}

/// Finds the memory of the device in which this optimizer works. Leaves `device_` null if it works in host memory.
void Optimizer::find_device(const ArenaInfo& arena) {
  device_ = nullptr;
  if (*memory_ == UpdateMemory::kHost) return;
  if (arena.device_arena) {
    device_ = arena.device_arena;
  } else if (arena.shared) {
    device_ = open_arena(*arena.shared);
    opened_ = true;
  } else if (*memory_ == UpdateMemory::kDevice) {
    throw Error(
        Code::kUnsupported,
        "{}: memory = 'device' is not possible: the accelerator host of rank {} does not give this process the memory "
        "of its device; if it tried to, a line of its log says what failed; allowed: auto, host",
        where(), arena.rank);
  }
}

std::shared_ptr<devices::DeviceArena> Optimizer::open_arena(const SharedArena& shared) const {
  const std::string& kind = shared.parameters.device.kind;
  PluginContext inner = context();
  inner.where = fmt::format("device '{}' of {}", kind, where());
  inner.parameters = "{}";
  auto driver = context().plugins->create<devices::Driver>(kind, inner);
  try {
    return std::make_shared<devices::OpenedArena>(std::move(driver), shared);
  } catch (const Error& error) {
    throw Error(error.code(),
                "{}: the parameters of rank {}, which are on a device, cannot be opened: {}; with memory = "
                "'host' this is not necessary",
                where(), context().rank, error.what());
  }
}

optimizer::UpdatePass Optimizer::make_pass(const ArenaInfo& arena, optimizer::Formula formula,
                                           const std::vector<optimizer::Segment>& segments,
                                           const std::vector<Tensor>& state) const {
  if (!device_) {
    return optimizer::host_pass(settings_, formula, segments, optimizer::block_of(arena, "parameters"),
                                optimizer::block_of(arena, "gradients"), state);
  }
  return {settings_, segments, device_->make_update(optimizer::update_request(formula, segments, state))};
}

void Optimizer::report(const ArenaInfo& arena, const std::vector<Tensor>& state) const {
  const optimizer::Part part = optimizer::part_of(arena);
  std::uint64_t held = 0, all = 0;
  for (const Tensor& block : state) {
    held += block.bytes();
    all += part.whole * size_of(block.dtype);
  }
  const std::string kernels =
      device_ ? "updated on " + device_->device() : fmt::format("{} kernels", optimizer::best_kernels().name);
  log().info("{}: {} parameter elements in {} segments, {}; {} of {} bytes of optimizer state on this rank",
             name_of(*rule_), part.count, pass_->segments().size(), kernels, held, all);
}

void Optimizer::send_state(const std::vector<std::string>& names, const std::vector<Tensor>& state) {
  OptimizerState message{
      context().rank, std::string(name_of(*rule_)), {}, optimizer::hyperparameters(settings_, groups_.weight_decay)};
  message.hyperparameters["lr"] = base_lr();
  message.on_device = opened_;
  if (opened_) message.device_blocks = device_->state_handles();
  for (std::size_t i = 0; i < names.size(); ++i) message.blocks.push_back({names[i], state[i]});
  state_.send(std::move(message));
}

void Optimizer::on_run_state(const RunState& state) {
  step_ = state.step;
  take_settings(state.settings);
  first_step_known_.arrived();
}

void Optimizer::on_gradients(const Gradients& gradients) {
  if (!pass_) throw Error(Code::kInternal, "{}: gradients of step {} came before the arena", where(), gradients.step);
  if (arrived_ != 0 && (gradients.step != pending_.step || gradients.buckets != pending_.buckets)) {
    throw Error(Code::kInternal, "{}: gradients of step {} ({} buckets) came amid those of step {} ({} of {} buckets)",
                where(), gradients.step, gradients.buckets, pending_.step, arrived_, pending_.buckets);
  }
  pending_ = gradients;
  ++arrived_;
  step_if_complete();
}

void Optimizer::step_if_complete() {
  if (!begin_.open() || arrived_ == 0 || arrived_ < pending_.buckets) return;
  arrived_ = 0;
  // If the state is shared, other ranks may have made updates in between.
  const bool in_order = shared_state_ ? pending_.step > step_ : pending_.step == step_ + 1;
  if (!in_order) {
    throw Error(Code::kInternal, "{}: gradients of step {} came after step {}", where(), pending_.step, step_);
  }
  take_step();
}

void Optimizer::take_step() {
  step_ = pending_.step;
  const std::uint64_t index = (pending_.run_step == 0 ? step_ : pending_.run_step) - 1;
  const double lr = optimizer::learning_rate(schedule_settings_, base_lr(), index, pending_.total_steps);
  const core::SpanScope span(SpanKind::kUpdate, "update", index + 1);
  pass_->run({.step = step_,
              .lr = lr,
              .gradient_scale = pending_.scale,
              .momentum = optimizer::momentum(schedule_settings_, index, pending_.total_steps)});
  send_parameters(step_, lr);
}

void Optimizer::send_parameters(std::uint64_t step, double learning_rate) {
  auto message = parameters_.loan();
  message->step = step;
  message->learning_rate = learning_rate;
  parameters_.send(std::move(message));
}

double Optimizer::base_lr() const { return *lr_ < 0 ? optimizer::default_lr(*rule_) : *lr_; }

bool Optimizer::moves_momentum() const {
  return schedule_settings_.kind == optimizer::ScheduleKind::kOneCycle && *cycle_momentum_;
}

optimizer::Rule Optimizer::read_rule() const {
  if (betas_->size() != 2) {
    throw Error(Code::kInvalidArgument, "betas: {} numbers are not allowed; two numbers >= 0 and < 1", betas_->size());
  }
  if (*eps_ >= 0 && *eps_ < kSmallestEps) {
    throw Error(Code::kInvalidArgument, "eps: {} is not allowed; a number >= {}, or -1 for torch's default", *eps_,
                kSmallestEps);
  }
  return {.kind = *rule_,
          .momentum = *momentum_,
          .dampening = *dampening_,
          .nesterov = *nesterov_,
          .beta1 = betas_->at(0),
          .beta2 = betas_->at(1),
          .amsgrad = *amsgrad_,
          .alpha = *alpha_,
          .centered = *centered_,
          .lr_decay = *lr_decay_,
          .initial_accumulator_value = *initial_accumulator_value_,
          .eps = *eps_ < 0 ? optimizer::default_eps(*rule_) : *eps_,
          .maximize = *maximize_};
}

optimizer::ScheduleSettings Optimizer::read_schedule() const {
  if (*schedule_ == optimizer::ScheduleKind::kOneCycle && *cycle_momentum_ && *rule_ == optimizer::RuleKind::kAdagrad) {
    throw Error(Code::kInvalidArgument, "cycle_momentum = true needs a rule with momentum; rule = 'adagrad' has none");
  }
  const auto steps = [](const Parameter<std::int64_t>& parameter) { return static_cast<std::uint64_t>(*parameter); };
  return {.kind = *schedule_,
          .warmup_steps = steps(warmup_steps_),
          .min_lr = *min_lr_,
          .step_size = steps(step_size_),
          .gamma = *gamma_,
          .total_steps = steps(total_steps_),
          .pct_start = *pct_start_,
          .div_factor = *div_factor_,
          .final_div_factor = *final_div_factor_,
          .cycle_momentum = *cycle_momentum_,
          .base_momentum = *base_momentum_,
          .max_momentum = *max_momentum_};
}

optimizer::GroupSettings Optimizer::read_groups() const {
  optimizer::GroupSettings groups;
  groups.weight_decay = *weight_decay_ < 0 ? optimizer::default_weight_decay(*rule_) : *weight_decay_;
  groups.decay_on = *weight_decay_on_;
  groups.no_decay = *no_decay_;
  for (const auto& text : *lr_scale_) groups.lr_scale.push_back(optimizer::parse_lr_scale(text));
  return groups;
}

}  // namespace trainyard

TRAINYARD_COMPONENT(trainyard::Optimizer, "optimizer",
                    "Updates the parameters: SGD, Adam, AdamW, RMSprop, Adagrad with learning rate schedules.")
