// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/config/configurable.h"
#include "core/plugin/plugin.h"
#include "core/plugin/plugin_context.h"
#include "core/state/state.h"
#include "core/traits/strategy_traits.h"
#include "messages/scalar.h"
#include "models/model.h"
#include "strategies/evaluation.h"
#include "strategies/micro_batch.h"
#include "strategies/passes.h"
#include "strategies/step_trace.h"
#include "strategies/world.h"
#include "tensors/arena.h"

namespace trainyard {

class Accelerator;

/// The arguments of a strategy's constructor. The rank is in the PluginContext.
struct StrategyContext : PluginContext {
  /// The accelerator of this rank. Null if the strategy is constructed only to read its parameters and traits, while a
  /// launch file is checked.
  Accelerator* accelerator = nullptr;
  /// The model of this rank; null in the same case as `accelerator`. Model::build is called before Strategy::shard().
  Model* model = nullptr;
};

/// The objects of a rank that its strategy works with. They outlive the strategy. Only `trace` can be null.
struct RankParts {
  Model* model = nullptr;
  Arena* arena = nullptr;
  World* world = nullptr;
  Passes* passes = nullptr;
  StepTrace* trace = nullptr;  ///< Records what the rank did and when; null if nothing is recorded.
};

/// What Strategy::end_step() must do besides completing the gradients.
struct StepEnd {
  bool check_finite = false;  ///< True to check whether a gradient is infinite or NaN.
  /// The limit for the absolute value of each element of the gradients; 0 = no limit. The gradients still contain
  /// the loss scale, so the caller must multiply the limit by the loss scale, too.
  double clip_value = 0;
  bool norm = false;  ///< True to compute the norm of the gradients, after they have been clipped to `clip_value`.
};

/// What Strategy::end_step() has found out about the gradients of a step. Every rank gets the same result, unless the
/// gradients differ between ranks (GradientsOfRanks::kOwn and kIndependent). In that case each rank gets its own norm
/// and, with kIndependent, its own `finite`.
struct StepSummary {
  bool finite = true;  ///< False if StepEnd::check_finite was set and a gradient is infinite or NaN.
  double norm = 0;     ///< The L2 norm of all gradients, if StepEnd::norm was set. It includes the loss scale.
};

/// A plugin that determines how the ranks of a run train one model together. Each rank has an accelerator host (the
/// component that computes losses and gradients), which owns a strategy. The strategy works directly on the rank's
/// arena, the memory with the flat blocks of parameters, gradients and buffers. It handles only tensors and does not
/// depend on the hardware.
///
/// There are two kinds of strategies. If every rank has the whole model, and the strategy only determines how gradients
/// are reduced, it derives from ReplicaStrategy and implements little besides `reduce`. Other strategies derive from
/// this class and override `compute`; the default computes each rank's passes without communication.
///
/// The accelerator host calls the public functions below in the order shown here, which is the same on every rank.
/// These functions call the hooks further below, which do nothing by default unless stated otherwise:
// clang-format off
///     set_up            -> prepare
///     start             -> synchronise
///     for every step:
///         train ...     -> compute ...
///         end_step      -> complete_gradients
///         begin_update  -> claim_update
///         (the optimizer changes the parameters)
///         end_update    -> after_update
///     or, for a step that is skipped after end_step or cancelled before it:
///         drop_step     -> drop_gradients
///     between steps:
///         begin_evaluation ... end_evaluation  -> make_evaluation
///         begin_snapshot                       -> before_snapshot
///         save_state
///     after start, if a run resumes:
///         restore_state
// clang-format on
///
/// Hooks that may change parameters get an ArenaEdit, through which they do so; all other hooks must not change
/// parameters.
class Strategy : public Configurable, public Stateful {
 public:
  static constexpr const char* kKind = "strategy";
  using Context = StrategyContext;

  explicit Strategy(StrategyContext& context);

  /// Returns facts about the strategy for the planner (which checks a launch file) and the accelerator host, such as
  /// the supported number of ranks.
  virtual StrategyTraits traits() const { return {}; }

  /// Returns the range of the parameters that this rank updates, and which of its blocks of parameters and gradients
  /// contain only this range; see ArenaShard. By default, the rank updates all parameters. Called once, before the
  /// memory for parameters is allocated.
  virtual ArenaShard shard(const ArenaLayout& /*layout*/) const { return {}; }

  /// Returns values to report with the training metrics, such as `gradient_bytes`.
  virtual std::vector<Scalar> stats() const { return {}; }

  /// Saves the values that the strategy keeps from step to step, for a checkpoint; see Stateful. Called on all ranks
  /// after begin_snapshot(), if the run saves checkpoints. The default saves nothing.
  void save_state(StateWriter& /*into*/) const override {}
  /// Restores the values that save_state() saved. Called after start() if the run resumes from a checkpoint that
  /// contains such values.
  void restore_state(const StateReader& /*from*/) override {}

  /// Throws kUnsupported if traits() does not allow `world_size` ranks. The error names the supported numbers of ranks.
  void check_world_size(std::uint32_t world_size) const;

  /// Prepares the strategy. Called once, when the model and its memory (the arena) exist. Throws kUnsupported if the
  /// strategy requires that all ranks are threads of one process (StrategyTraits::share is kProcess) and they are not.
  void set_up(const RankParts& parts);

  /// Makes all ranks start from the same parameters. If the run resumes, this function is called after the checkpoint
  /// writer has restored the parameters.
  void start();

  /// Computes the forward and backward pass of one micro-batch. Returns the loss, detached from the autograd graph, or
  /// an undefined tensor if the micro-batch is empty.
  at::Tensor train(const MicroBatch& batch);

  /// Called after the last micro-batch of a step. Waits until this rank's gradients are final, so that the optimizer
  /// can use them, and then checks and clips them as `wanted` requires.
  StepSummary end_step(const StepEnd& wanted);

  /// Discards the gradients of the current step, which then makes no update. Can be called at any time before
  /// begin_update(). If it is called between the last micro-batch and end_step(), all ranks must call it, because it
  /// waits until the reductions in progress are complete.
  void drop_step();

  /// Returns the number of the update that uses the gradients of step `step`, or 0 if this rank makes no update in this
  /// step. The accelerator host sends the number to the optimizer as Gradients::step. Called before the gradients are
  /// passed to the optimizer.
  std::uint64_t begin_update(std::uint64_t step) { return claim_update(step); }

  /// Ends step `step`. Called after the optimizer has changed the parameters or, if begin_update() returned 0, directly
  /// after begin_update().
  void end_update(std::uint64_t step);

  /// Begins an evaluation or a prediction. The reference is valid until end_evaluation() is called. Called on all
  /// ranks.
  Evaluation& begin_evaluation();
  /// Ends the evaluation or prediction, if there is one. Called on all ranks. If the caller cancels an evaluation, it
  /// need not call this function: the next train(), begin_evaluation() or begin_snapshot() does so.
  void end_evaluation();

  /// Ensures that the parameters and buffers have their current values. Called on all ranks before the checkpoint
  /// writer copies them for a checkpoint.
  void begin_snapshot();

  /// Returns the result of traits() in the form in which it is passed to the launcher.
  core::PluginTraits declared_traits() const final;

 protected:
  // The hooks that a strategy overrides, in the order in which they are called.

  /// Called by set_up(). A strategy allocates memory and makes groups of ranks here. The default does nothing.
  virtual void prepare() {}

  /// Called by start(). Makes all ranks start from the same parameters and buffers. The default copies the parameters
  /// and buffers of rank 0 to all ranks.
  virtual void synchronise(ArenaEdit& edit) { take_from_rank_0(edit); }

  /// Called by train(), with the same argument and result. Computes the passes of one micro-batch, and may communicate
  /// with other ranks. The default computes without communication.
  virtual at::Tensor compute(const MicroBatch& batch);

  /// Called by end_step(). Waits until this rank's gradients are final, so that the optimizer can use them. Also called
  /// if the step is dropped after its last micro-batch, so that no reduction remains in progress. The default does
  /// nothing.
  virtual void complete_gradients() {}

  /// Called by drop_step(). Discards gradients that the strategy keeps in additional memory. The rank's block of
  /// gradients is zeroed afterwards. The default does nothing.
  virtual void drop_gradients(ArenaEdit& /*edit*/) {}

  /// Called by begin_update(), and returns its result. By default, every rank makes one update in each step, and the
  /// number of the update is `step`.
  virtual std::uint64_t claim_update(std::uint64_t step) { return step; }

  /// Called by end_update(). A strategy that exchanges parameters after an update does so here. The function is not
  /// called for a dropped step, so state that a dropped step must not change is updated here. The default does nothing.
  virtual void after_update(std::uint64_t /*step*/, ArenaEdit& /*edit*/) {}

  /// Called by begin_evaluation(). The default suits strategies in which every rank has the whole model with the
  /// current parameters.
  virtual std::unique_ptr<Evaluation> make_evaluation(ArenaEdit& edit);

  /// Called by begin_snapshot(). Ensures that this rank's blocks of parameters and buffers contain the current values.
  /// The default does nothing.
  virtual void before_snapshot(ArenaEdit& /*edit*/) {}

  // Functions that hooks can call.

  /// Copies the parameters and buffers of rank 0 to all ranks.
  void take_from_rank_0(ArenaEdit& edit);
  void zero_gradients() { at::Tensor(arena().gradients()).zero_(); }

  const StrategyContext& context() const { return context_; }
  Model& model() const { return *parts_.model; }
  Arena& arena() const { return *parts_.arena; }
  World& world() const { return *parts_.world; }
  Passes& passes() const { return *parts_.passes; }
  StepTrace* trace() const { return parts_.trace; }

  /// Returns the loss scale of the current step, which is 1 if the loss is not scaled. It is valid from the first
  /// compute() of the step to its after_update() or drop_gradients(). The rank's gradients are multiplied by it, and
  /// the optimizer divides them by it. It can differ from step to step, so a strategy that keeps values computed from
  /// gradients must divide them by it.
  double loss_scale() const { return loss_scale_; }
  /// Returns the number of samples that this rank has received in the micro-batches of the current step.
  std::uint64_t step_samples() const { return step_samples_; }
  /// Returns true if end_step() was called for the current step.
  bool step_has_ended() const { return step_has_ended_; }

 private:
  StepSummary summary_of_step(const StepEnd& wanted);
  double norm_of_all(const at::Tensor& own_gradients) const;
  bool finite_everywhere(double norm) const;
  void begin_step();
  /// Calls `part` and returns its result. If `part` throws, makes the groups of ranks fail before the exception
  /// continues, so that the other ranks do not wait for this rank.
  template <class Part>
  auto together(const Part& part);

  StrategyContext context_;
  RankParts parts_;
  std::unique_ptr<Evaluation> evaluation_;  ///< The evaluation in progress, or null.
  std::uint64_t step_samples_ = 0;
  double loss_scale_ = 1;
  bool gradients_are_due_ = false;  ///< True between the last micro-batch of a step and complete_gradients().
  bool step_has_ended_ = false;
};

}  // namespace trainyard

/// Registers the class `Class` as the strategy `name`. `description` is a short text for users. The macro must be the
/// last line of the strategy's .cpp, outside of any namespace.
#define TRAINYARD_STRATEGY(Class, name, description) \
  TRAINYARD_PLUGIN("strategy", ::trainyard::Strategy, ::trainyard::StrategyContext, Class, name, "1", description)
