#include "components/optimizer/optimizer.h"

#include <algorithm>

#include "core/memory/shared_pool.h"
#include "messages/error.h"

namespace trainyard {
namespace {

const Tensor& block_of(const ArenaInfo& arena, std::string_view name) {
  const auto found = std::ranges::find(arena.blocks, name, &ArenaBlock::name);
  if (found != arena.blocks.end()) return found->data;
  std::string known;
  for (const auto& block : arena.blocks) known += (known.empty() ? "" : ", ") + block.name;
  throw Error(Code::kNotFound, "the arena of rank {} has no block '{}'; it has: {}", arena.rank, name, known);
}

/// Writes `value` to every element of a parameter, not to the padding between parameters. Elements of `block` lie where
/// those of the parameters do, but may be wider.
template <class T>
void fill_entries(const Tensor& block, const ArenaInfo& arena, double value) {
  for (const ArenaEntry& entry : arena.entries) {
    if (entry.block != "parameters") continue;
    const std::uint64_t first = entry.offset_bytes / size_of(static_cast<DType>(entry.dtype));
    std::fill_n(reinterpret_cast<T*>(block.data()) + first, checked_bytes(block.dtype, entry.shape) / sizeof(T),
                static_cast<T>(value));
  }
}

}  // namespace

void Optimizer::on_configure() {
  try {
    // Any number below 0 stands for the default, but only one is meant so: the others are slips.
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
    log().warn("the pattern '{}' matches no parameter of model '{}'", pattern, arena.model);
  }
  const Tensor& parameters = block_of(arena, "parameters");
  auto segments = optimizer::make_segments(arena.entries, groups_, parameters.dtype,
                                           static_cast<std::uint64_t>(parameters.elements()));
  const auto formula = optimizer::formula_of(settings_, moves_momentum());
  const auto names = optimizer::state_names(formula);
  std::vector<Tensor> state;
  for (const auto& name : names) state.push_back(make_state(name, arena, parameters));
  pass_ = std::make_unique<optimizer::UpdatePass>(settings_, formula, std::move(segments), parameters,
                                                  block_of(arena, "gradients"), state);
  log().info("{}: {} parameter elements in {} segments, {} kernels", *rule_, parameters.elements(),
             pass_->segments().size(), optimizer::best_kernels().name);
  send_state(names, state);
  send_parameters(0, 0);
}

Tensor Optimizer::make_state(const std::string& name, const ArenaInfo& arena, const Tensor& parameters) const {
  Tensor block{optimizer::state_dtype_of(parameters.dtype), parameters.shape, 0, {}};
  block.buffer = context().pool->allocate_permanent(block.bytes());
  if (name == "sum" && *initial_accumulator_value_ != 0) {
    if (block.dtype == DType::kFloat64) {
      fill_entries<double>(block, arena, *initial_accumulator_value_);
    } else {
      fill_entries<float>(block, arena, *initial_accumulator_value_);
    }
  }
  return block;
}

void Optimizer::send_state(const std::vector<std::string>& names, const std::vector<Tensor>& state) {
  OptimizerState message{context().rank, *rule_, {}, optimizer::hyperparameters(settings_, groups_.weight_decay)};
  message.hyperparameters["lr"] = base_lr();
  for (std::size_t i = 0; i < names.size(); ++i) message.blocks.push_back({names[i], state[i]});
  state_.send(std::move(message));
}

void Optimizer::on_run_state(const RunState& state) {
  step_ = state.step;
  started_ = true;
  step_if_complete();  // Gradients that overtook this message on another edge have waited for it.
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
  const bool knows_first_step = started_ || run_state_.connections() == 0;
  if (!knows_first_step || arrived_ == 0 || arrived_ < pending_.buckets) return;
  arrived_ = 0;
  if (pending_.step != step_ + 1) {
    throw Error(Code::kInternal, "{}: gradients of step {} came after step {}", where(), pending_.step, step_);
  }
  take_step();
}

void Optimizer::take_step() {
  const double lr = optimizer::learning_rate(schedule_settings_, base_lr(), step_, pending_.total_steps);
  ++step_;
  pass_->run({.step = step_,
              .lr = lr,
              .gradient_scale = pending_.scale,
              .momentum = optimizer::momentum(schedule_settings_, step_ - 1, pending_.total_steps)});
  send_parameters(step_, lr);
}

void Optimizer::send_parameters(std::uint64_t step, double learning_rate) {
  auto message = parameters_.loan();
  message->step = step;
  message->learning_rate = learning_rate;
  parameters_.send(std::move(message));
}

double Optimizer::base_lr() const { return *lr_ < 0 ? optimizer::default_lr(*rule_) : *lr_; }

bool Optimizer::moves_momentum() const { return schedule_settings_.kind == "one_cycle" && *cycle_momentum_; }

}  // namespace trainyard

TRAINYARD_COMPONENT(trainyard::Optimizer, "optimizer",
                    "Updates the parameters: SGD, Adam, AdamW, RMSprop, Adagrad with learning rate schedules.")
