// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "components/optimizer/rule.h"
#include "components/optimizer/schedule.h"
#include "components/optimizer/segments.h"
#include "components/optimizer/update_pass.h"
#include "core/component/component.h"
#include "core/component/gate.h"
#include "devices/device_arena.h"
#include "messages/arena.h"
#include "messages/run_state.h"
#include "messages/step.h"
#include "messages/words.h"

namespace trainyard {

/// The memory in which an optimizer works: that of the device if possible (kAuto), only that of the device (kDevice),
/// or only host memory (kHost).
enum class UpdateMemory : std::uint8_t { kAuto, kDevice, kHost };
constexpr auto words_of(UpdateMemory) { return words("memory", "auto", "device", "host"); }

/// The component that updates the parameters of its rank with the gradients, in every step. It works directly in the
/// arena, the memory that it shares with the accelerator host of the rank. If the ranks divide the parameters among
/// themselves, it updates only its rank's part and has state only for this part (ArenaInfo::shard_begin).
///
/// If the accelerator host trains in the memory of a device, the optimizer works there, too, provided that it is in the
/// same process or that a device plugin gives it access to the memory (ArenaInfo::shared); otherwise it works in host
/// memory. See the parameter `memory`.
///
/// The rules and their options have the same names and meanings as in torch.optim. An update is one pass over the
/// memory: it reads each gradient, multiplies it by Gradients::scale, updates the state and the parameter, and zeroes
/// the gradient.
///
/// Input      arena       the blocks to work on; answered with `optimizer_state` and Parameters of step 0
/// Input      gradients   all buckets of a step; answered with `parameters` when the last one has arrived
/// Input      run_state   optional: the step at which a resumed run continues
/// Output     parameters, optimizer_state
/// Errors     kUnsupported (device, dtype), kShapeMismatch (blocks), kInvalidArgument (options), kInternal (step order)
class Optimizer final : public Component {
 public:
  static inline const ComponentTraits kTraits{.per_rank = true, .thread = "main", .restartable = false};

  explicit Optimizer(ComponentContext& context) : Component(context, kTraits) {}

 protected:
  void on_configure() override;

 private:
  static constexpr double kAsTorch = -1;

  void on_arena(const ArenaInfo& arena);
  void on_gradients(const Gradients& gradients);
  void on_run_state(const RunState& state);
  void find_device(const ArenaInfo& arena);
  std::shared_ptr<devices::DeviceArena> open_arena(const SharedArena& shared) const;
  optimizer::UpdatePass make_pass(const ArenaInfo& arena, optimizer::Formula formula,
                                  const std::vector<optimizer::Segment>& segments,
                                  const std::vector<Tensor>& state) const;
  void step_if_complete();
  void take_step();
  void send_state(const std::vector<std::string>& names, const std::vector<Tensor>& state);
  void send_parameters(std::uint64_t step, double learning_rate);
  void report(const ArenaInfo& arena, const std::vector<Tensor>& state) const;
  double base_lr() const;
  bool moves_momentum() const;

  optimizer::Rule read_rule() const;
  optimizer::ScheduleSettings read_schedule() const;
  optimizer::GroupSettings read_groups() const;

  Output<Parameters> parameters_{*this, "parameters", "the arena holds the parameters after this step"};
  Output<OptimizerState> state_{*this, "optimizer_state", "blocks for the checkpoint writer"};
  Input<ArenaInfo> arena_{*this, "arena", "the blocks to work on", [this](const auto& m) { on_arena(*m); }};
  Input<Gradients> gradients_{*this, "gradients", "reduced gradients of one bucket",
                              [this](const auto& m) { on_gradients(*m); }};
  Input<RunState> run_state_{*this,
                             "run_state",
                             "the step at which a resumed run continues",
                             [this](const auto& m) { on_run_state(*m); },
                             {.optional = true, .topic = "/run_state"}};

  Parameter<optimizer::RuleKind> rule_{*this, "rule", optimizer::RuleKind::kAdamW, "update rule of torch.optim"};
  Parameter<double> lr_{*this, "lr", kAsTorch,
                        "base learning rate; -1: torch's default (0.001; rmsprop and adagrad 0.01)", settable()};
  Parameter<double> weight_decay_{*this, "weight_decay", kAsTorch,
                                  "weight decay; -1: torch's default (adamw 0.01, else 0)"};
  Parameter<double> eps_{*this, "eps", kAsTorch, "added to the denominator; -1: torch's default (1e-8, adagrad 1e-10)"};
  Parameter<double> momentum_{*this, "momentum", 0, "sgd, rmsprop", at_least(0)};
  Parameter<double> dampening_{*this, "dampening", 0, "sgd: dampening of the momentum"};
  Parameter<bool> nesterov_{*this, "nesterov", false, "sgd: Nesterov momentum"};
  Parameter<std::vector<double>> betas_{*this, "betas", {0.9, 0.999}, "adam, adamw: decay of the two averages"};
  Parameter<bool> amsgrad_{*this, "amsgrad", false,
                           "adam, adamw: divide by the largest average of all steps (AMSGrad)"};
  Parameter<double> alpha_{*this, "alpha", 0.99, "rmsprop: decay of the average of squares", between(0, 1)};
  Parameter<bool> centered_{*this, "centered", false, "rmsprop: divide by the standard deviation"};
  Parameter<double> lr_decay_{*this, "lr_decay", 0, "adagrad: decay of the learning rate", at_least(0)};
  Parameter<double> initial_accumulator_value_{*this, "initial_accumulator_value", 0, "adagrad: first sum of squares",
                                               at_least(0)};
  Parameter<UpdateMemory> memory_{*this, "memory", UpdateMemory::kAuto,
                                  "where the update is made; auto: on the device if it has memory of its own that this "
                                  "process can use"};
  Parameter<bool> maximize_{*this, "maximize", false, "ascend along the gradient instead of descending"};

  Parameter<optimizer::DecayOn> weight_decay_on_{
      *this, "weight_decay_on", optimizer::DecayOn::kAll,
      "which parameters decay: all, or only those with at least two dimensions"};
  Parameter<std::vector<std::string>> no_decay_{*this, "no_decay", std::vector<std::string>{},
                                                "glob patterns of parameters without decay"};
  Parameter<std::vector<std::string>> lr_scale_{
      *this, "lr_scale", std::vector<std::string>{},
      "factors on the learning rate by glob pattern: 'encoder.*=0.1'; the last match counts"};

  Parameter<optimizer::ScheduleKind> schedule_{*this, "schedule", optimizer::ScheduleKind::kConstant,
                                               "schedule of the learning rate"};
  Parameter<std::int64_t> warmup_steps_{*this, "warmup_steps", 0, "linear warm-up before the schedule",
                                        at_least(0) | in_unit("steps")};
  Parameter<double> min_lr_{*this, "min_lr", 0, "cosine, linear: learning rate at the end; step: lowest learning rate",
                            at_least(0)};
  Parameter<std::int64_t> step_size_{*this, "step_size", 0, "step: steps between two drops",
                                     at_least(0) | in_unit("steps")};
  Parameter<double> gamma_{*this, "gamma", 0.1, "step: factor by which the learning rate drops", at_least(0)};
  Parameter<std::int64_t> total_steps_{*this, "total_steps", 0,
                                       "the step at which the schedule ends; 0 = at the end of the run",
                                       at_least(0) | in_unit("steps")};
  Parameter<double> pct_start_{*this, "pct_start", 0.3,
                               "one_cycle: share of the steps in which the learning rate rises", between(0, 1)};
  Parameter<double> div_factor_{*this, "div_factor", 25, "one_cycle: starts at lr / div_factor", positive()};
  Parameter<double> final_div_factor_{*this, "final_div_factor", 1e4,
                                      "one_cycle: the last learning rate is the first one divided by this", positive()};
  Parameter<bool> cycle_momentum_{*this, "cycle_momentum", true,
                                  "one_cycle: change the momentum inversely to the learning rate"};
  Parameter<double> base_momentum_{*this, "base_momentum", 0.85, "one_cycle: momentum at the highest learning rate",
                                   between(0, 1)};
  Parameter<double> max_momentum_{*this, "max_momentum", 0.95, "one_cycle: momentum at the start and at the end",
                                  between(0, 1)};

  /// Delays the first update until ArenaInfo and RunState have arrived. RunState contains the step at which the run
  /// begins. Messages from different senders are not ordered, so gradients can arrive earlier.
  Gate begin_{[this] { step_if_complete(); }};
  Gate::Need arena_known_{begin_, arena_};
  Gate::Need first_step_known_{begin_, run_state_};

  optimizer::Rule settings_;
  optimizer::ScheduleSettings schedule_settings_;
  optimizer::GroupSettings groups_;
  /// The arena on the device; null if this optimizer works in host memory. Declared before `pass_`, which uses it.
  std::shared_ptr<devices::DeviceArena> device_;
  bool opened_ = false;                        ///< True if `device_` is the memory of another process.
  std::optional<optimizer::UpdatePass> pass_;  ///< Set when the message ArenaInfo has arrived.
  /// True if the optimizers of several ranks update the same parameters, one after another.
  bool shared_state_ = false;
  /// The number of the last update that this optimizer has made.
  std::uint64_t step_ = 0;
  Gradients pending_;          ///< The most recent message for the next step.
  std::uint32_t arrived_ = 0;  ///< The number of buckets of the next step that have arrived.
};

}  // namespace trainyard
