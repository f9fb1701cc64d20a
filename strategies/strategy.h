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
  /// The accelerator of this rank; null if the strategy is constructed only to read its declaration.
  Accelerator* accelerator = nullptr;
  /// The model of this rank; null if the strategy is constructed only to read its declaration. Model::build is called
  /// before Strategy::shard().
  Model* model = nullptr;
};

/// The parts of a rank that its strategy works on. They outlive the strategy. Only `trace` can be null.
struct RankParts {
  Model* model = nullptr;
  Arena* arena = nullptr;
  World* world = nullptr;
  Passes* passes = nullptr;
  StepTrace* trace = nullptr;  ///< The record of the rank's activity; null if nothing is recorded.
};

/// The tasks of end_step() besides completing the gradients: checks, clipping and norms.
struct StepEnd {
  bool check_finite = false;  ///< True to check whether a gradient overflowed.
  double clip_value = 0;      ///< The limit for the absolute value of a gradient in the arena; 0 = no limit.
  bool norm = false;          ///< True to compute the norm of the gradients, after they are clipped to clip_value.
};

/// A summary of the gradients of a step. Every rank gets the same summary, unless the gradients differ between ranks
/// (GradientsOfRanks::kOwn and kIndependent). In that case each rank gets its own norm and, with kIndependent, its own
/// `finite`.
struct StepSummary {
  bool finite = true;  ///< False only if some gradient overflowed and StepEnd::check_finite was set.
  double norm = 0;     ///< The L2 norm of all gradients. It is meaningful only if StepEnd::norm was set.
};

/// A plugin that determines how ranks train one model together. A strategy is part of the accelerator host, because it
/// works in place on the host's arena. It handles only tensors and does not depend on the hardware.
///
/// There are two kinds of strategies. If every rank has the whole model and only the reduction of gradients differs, a
/// strategy derives from ReplicaStrategy and implements little besides `reduce`. Other strategies derive from this
/// class and implement `compute`; by default every rank computes by itself.
///
/// The accelerator host calls the public functions below in the order shown here, which is the same on every rank.
/// These functions call the hooks further below, which do nothing by default unless stated otherwise:
///
// clang-format off
///     set_up            -> prepare
///     start             -> synchronise
///     for every step:
///         train ...     -> compute ...
///         end_step      -> complete_gradients
///         begin_update  -> claim_update
///         (the optimizer changes the parameters)
///         end_update    -> after_update
///     or, for a step that is skipped after its end or cancelled before it:
///         drop_step     -> drop_gradients
///     between steps:
///         begin_evaluation ... end_evaluation  -> make_evaluation
///         begin_snapshot                       -> before_snapshot
///         save_state
///     after start, if a run resumes:
///         restore_state
// clang-format on
///
/// Hooks that may change parameters have an ArenaEdit as an argument; all other hooks must not change parameters.
class Strategy : public Configurable, public Stateful {
 public:
  static constexpr const char* kKind = "strategy";
  using Context = StrategyContext;

  explicit Strategy(StrategyContext& context);

  /// Returns what the planner and the accelerator host must know about the strategy.
  virtual StrategyTraits traits() const { return {}; }

  /// Returns this rank's shard of the flat blocks; see ArenaShard. By default the shard contains all bytes. Called
  /// once, before the arena is made.
  virtual ArenaShard shard(const ArenaLayout& /*layout*/) const { return {}; }

  /// Returns figures about the strategy for the training metrics, such as `gradient_bytes`.
  virtual std::vector<Scalar> stats() const { return {}; }

  /// Saves the values that the strategy keeps from step to step; see Stateful. The default saves nothing. Called on all
  /// ranks, after begin_snapshot(), unless the run has no checkpoint writer.
  void save_state(StateWriter& /*into*/) const override {}
  /// Restores the values that save_state() saved. Called after start() if the run resumes from a checkpoint that
  /// contains such values.
  void restore_state(const StateReader& /*from*/) override {}

  /// Throws kUnsupported, naming the supported numbers of ranks, if the traits do not allow `world_size` ranks.
  void check_world_size(std::uint32_t world_size) const;

  /// Prepares the strategy. Called when the model and the arena exist. Throws kUnsupported if
  /// StrategyTraits::share is kProcess and the ranks are not threads of one process.
  void set_up(const RankParts& parts);

  /// Makes all ranks start from the same parameters. If the run resumes, this function is called after the checkpoint
  /// has been restored into the arena.
  void start();

  /// Computes the forward and backward pass of one micro-batch. Returns the loss without its graph, or an undefined
  /// tensor if the batch is empty.
  at::Tensor train(const MicroBatch& batch);

  /// Completes the gradients of a step, so that the arena contains the gradients for the optimizer. Also checks and
  /// clips them as `wanted` requires. Called after the last micro-batch.
  StepSummary end_step(const StepEnd& wanted);

  /// Discards the gradients of the current step, which then makes no update. Can be called at any time before
  /// begin_update(). Between the last micro-batch and end_step(), all ranks must call it, because it waits until the
  /// reductions in progress are complete.
  void drop_step();

  /// Returns the number of the update that uses the gradients of step `step`, or 0 if this rank makes no update in this
  /// step. The accelerator host sends the number to the optimizer as Gradients::step. Called before the gradients are
  /// passed to the optimizer.
  std::uint64_t begin_update(std::uint64_t step) { return claim_update(step); }

  /// Ends step `step`. Called after the optimizer has changed the parameters or, if begin_update() returned 0, directly
  /// after begin_update().
  void end_update(std::uint64_t step);

  /// Begins an evaluation or a prediction and returns the object for it, which exists until end_evaluation() is called.
  /// Called on all ranks.
  Evaluation& begin_evaluation();
  /// Ends the evaluation or prediction, if there is one. Called on all ranks. If an evaluation is cancelled, the next
  /// train(), begin_evaluation() or begin_snapshot() calls end_evaluation().
  void end_evaluation();

  /// Prepares the arena for the checkpoint writer's copy. Called on all ranks before every copy.
  void begin_snapshot();

  /// Returns the traits for the planner.
  core::PluginTraits declared_traits() const final;

 protected:
  // The hooks, in the order in which they are called.

  /// Allocates the memory and makes the groups of ranks that the strategy needs.
  virtual void prepare() {}

  /// Makes all ranks start from the same parameters and buffers. The default copies the parameters and buffers of rank
  /// 0 to all ranks.
  virtual void synchronise(ArenaEdit& edit) { take_from_rank_0(edit); }

  /// Computes the forward and backward pass of one micro-batch, and communicates with other ranks if the strategy needs
  /// that; see train(). By default the rank computes alone.
  virtual at::Tensor compute(const MicroBatch& batch);

  /// Waits until the arena contains the gradients for the optimizer. Also called if the step is dropped after its last
  /// micro-batch, so that no reduction remains in progress.
  virtual void complete_gradients() {}

  /// Discards gradients that are outside of the arena or are being sent. The gradients in the arena are zeroed
  /// afterwards.
  virtual void drop_gradients(ArenaEdit& /*edit*/) {}

  /// Returns the result of begin_update(). By default, every rank makes one update in each step, and the update has the
  /// number of the step.
  virtual std::uint64_t claim_update(std::uint64_t step) { return step; }

  /// Called by end_update(). A strategy that exchanges parameters after an update overrides this function. It is not
  /// called for a dropped step, so a strategy stores state here that a dropped step must not change.
  virtual void after_update(std::uint64_t /*step*/, ArenaEdit& /*edit*/) {}

  /// Makes the object for an evaluation or a prediction. The default is for ranks that hold the whole model.
  virtual std::unique_ptr<Evaluation> make_evaluation(ArenaEdit& edit);

  /// Ensures that the blocks that the checkpoint writer copies, including the buffers, contain the current values. The
  /// default does nothing.
  virtual void before_snapshot(ArenaEdit& /*edit*/) {}

  // Hooks use the following functions.

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
  /// compute() of the step to its after_update() or drop_gradients(). The gradients of the step are multiplied by the
  /// loss scale, and the optimizer divides them by it. The loss scale can differ from step to step, so state that is
  /// made from gradients must be divided by it before it is kept.
  double loss_scale() const { return loss_scale_; }
  /// Returns the number of samples that this rank has received in the current step, in all micro-batches.
  std::uint64_t step_samples() const { return step_samples_; }
  /// Returns true if end_step() was called for the current step.
  bool step_has_ended() const { return step_has_ended_; }

 private:
  StepSummary summary_of_step(const StepEnd& wanted);
  double norm_of_all(const at::Tensor& own_gradients) const;
  bool finite_everywhere(double norm) const;
  void begin_step();
  /// Runs a part of a step. If `part` throws, the other ranks also fail, instead of waiting for this rank.
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
