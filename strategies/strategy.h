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

/// What a strategy is constructed with. Its rank is in the PluginContext.
struct StrategyContext : PluginContext {
  /// The accelerator and model of this rank, or null while only the declaration is read. The model is built by the time
  /// shard() is called.
  Accelerator* accelerator = nullptr;
  Model* model = nullptr;
};

/// The parts of a rank on which its strategy works. They live as long as the strategy does.
struct RankParts {
  Model* model = nullptr;
  Arena* arena = nullptr;
  World* world = nullptr;
  Passes* passes = nullptr;
  StepTrace* trace = nullptr;  ///< Records what the strategy does and when; null if no timeline is wanted.
};

/// What is wanted from the gradients at the end of a step.
struct StepEnd {
  bool check_finite = false;  ///< True to find out whether a gradient overflowed.
  double clip_value = 0;      ///< The limit for the absolute value of a gradient, on the scale of the arena; 0 = none.
  bool norm = false;          ///< True to compute the norm of the gradients, after they are clipped to clip_value.
};

/// Summarises the gradients of a step. Every rank gets the same summary, unless the ranks have gradients of their own:
/// then each gets its own norm and, with kIndependent, its own `finite`.
struct StepSummary {
  bool finite = true;  ///< False only if some gradient overflowed and check_finite was set.
  double norm = 0;     ///< The L2 norm of all gradients. It is meaningful only if StepEnd::norm was set.
};

/// How the ranks work together on one model. A strategy lives inside the accelerator host, because it works in place on
/// the host's arena. It deals only with tensors, whatever the hardware is.
///
/// There are two kinds. Replicas, whose ranks all have the whole model and differ in how they reduce gradients, derive
/// from ReplicaStrategy and implement little besides `reduce`. The others derive from this class and implement the step
/// (`compute`); by default every rank computes by itself.
///
/// The accelerator host calls the public functions below. It calls them in the order shown here, which is the same on
/// every rank. They call the hooks further below, which do nothing by default unless stated otherwise:
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
///     or, for a step that is skipped after its end or given up before it:
///         drop_step     -> drop_gradients
///     between steps:
///         begin_evaluation ... end_evaluation  -> make_evaluation
///         begin_snapshot                       -> before_snapshot, save_state
///     after start, if a run resumes             -> restore_state
// clang-format on
///
/// Hooks that may change parameters are given an edit; the others must not change them.
class Strategy : public Configurable, public Stateful {
 public:
  static constexpr const char* kKind = "strategy";
  using Context = StrategyContext;

  explicit Strategy(StrategyContext& context);

  virtual StrategyTraits traits() const { return {}; }

  /// Returns the part of the flat blocks that this rank keeps. Called once, before the arena is made.
  virtual ArenaShard shard(const ArenaLayout& /*layout*/) const { return {}; }

  /// Returns figures about the strategy for the training metrics, such as `gradient_bytes`.
  virtual std::vector<Scalar> stats() const { return {}; }

  /// Saves what the strategy keeps from step to step, and takes it back; see Stateful. By default there is nothing.
  /// Both are called on all ranks, save_state() after begin_snapshot() and restore_state() after start().
  void save_state(StateWriter& /*into*/) const override {}
  void restore_state(const StateReader& /*from*/) override {}

  /// Throws kUnsupported, naming what is supported, if the traits do not allow `world_size` ranks.
  void check_world_size(std::uint32_t world_size) const;

  /// Prepares the strategy. Called when the model and the arena exist. Throws kUnsupported if the ranks must share a
  /// process and do not.
  void set_up(const RankParts& parts);

  /// Makes all ranks start from the same parameters. Called when a checkpoint, if there is one, has been restored into
  /// the arena.
  void start();

  /// Computes the forward and backward pass of one micro-batch. Returns the loss without its graph, or an undefined
  /// tensor if the batch is empty.
  at::Tensor train(const MicroBatch& batch);

  /// Completes the gradients of a step, so that the arena holds those that the optimizer should see. Called after the
  /// last micro-batch.
  StepSummary end_step(const StepEnd& wanted);

  /// Discards the gradients of the current step. May be called before end_step() or after it.
  void drop_step();

  /// Called before the gradients of step `step` are passed to the optimizer. Returns the number of the update that they
  /// make (Gradients::step), or 0 if this rank makes no update in this step.
  std::uint64_t begin_update(std::uint64_t step) { return claim_update(step); }

  /// Called when the optimizer has changed the parameters, or at once if begin_update() returned 0.
  void end_update(std::uint64_t step);

  /// Begin and end an evaluation or a prediction. Called on all ranks. If an evaluation is broken off, the next
  /// train(), begin_evaluation() or begin_snapshot() ends it.
  Evaluation& begin_evaluation();
  void end_evaluation();

  /// Prepares the arena for the copy that the checkpoint writer makes of it. Called before every copy, on all ranks.
  void begin_snapshot();

  /// Returns the traits for the planner.
  core::PluginTraits declared_traits() const final;

 protected:
  // The hooks, in the order in which they are called.

  /// Allocates the memory and makes the groups of ranks that the strategy needs.
  virtual void prepare() {}

  /// Makes all ranks start from the same parameters and buffers. The default copies those of rank 0.
  virtual void synchronise(ArenaEdit& edit) { take_from_rank_0(edit); }

  /// Computes the forward and backward pass of one micro-batch, and communicates with other ranks if the strategy needs
  /// that; see train(). By default the rank computes alone.
  virtual at::Tensor compute(const MicroBatch& batch);

  /// Waits until the arena holds the gradients that the optimizer should see.
  virtual void complete_gradients() {}

  /// Discards gradients that are outside of the arena or are being sent. Those in the arena are zeroed afterwards.
  virtual void drop_gradients(ArenaEdit& /*edit*/) {}

  /// Implements begin_update(), which says what to return. By default every rank makes the update of its step.
  virtual std::uint64_t claim_update(std::uint64_t step) { return step; }

  /// Called by end_update(). A strategy that exchanges parameters does so here.
  virtual void after_update(std::uint64_t /*step*/, ArenaEdit& /*edit*/) {}

  /// Returns the evaluation to use. The default serves ranks that hold the whole model.
  virtual std::unique_ptr<Evaluation> make_evaluation(ArenaEdit& edit);

  /// Ensures that the announced memory, including buffers, has the current values.
  virtual void before_snapshot(ArenaEdit& /*edit*/) {}

  // Hooks use the following functions.

  /// Replaces the parameters and buffers of every rank with those of rank 0.
  void take_from_rank_0(ArenaEdit& edit);
  void zero_gradients() { at::Tensor(arena().gradients()).zero_(); }

  const StrategyContext& context() const { return context_; }
  Model& model() const { return *parts_.model; }
  Arena& arena() const { return *parts_.arena; }
  World& world() const { return *parts_.world; }
  Passes& passes() const { return *parts_.passes; }
  StepTrace* trace() const { return parts_.trace; }

  /// Return the number of samples that this rank was given in the current step, and whether end_step() was called for
  /// that step.
  std::uint64_t step_samples() const { return step_samples_; }
  bool step_has_ended() const { return step_has_ended_; }

 private:
  StepSummary summary_of_step(const StepEnd& wanted);
  double norm_of_all(const at::Tensor& own_gradients) const;
  bool finite_everywhere(double norm) const;
  void begin_step();
  /// Runs a part of a step. If it throws, the other ranks fail as well, instead of waiting for this one.
  template <class Part>
  auto together(const Part& part);

  StrategyContext context_;
  RankParts parts_;
  std::unique_ptr<Evaluation> evaluation_;  ///< The evaluation under way, or null.
  std::uint64_t step_samples_ = 0;
  bool step_has_ended_ = false;
};

}  // namespace trainyard

/// Registers a strategy. It is the last line of the strategy's .cpp, outside of any namespace.
#define TRAINYARD_STRATEGY(Class, name, description) \
  TRAINYARD_PLUGIN("strategy", ::trainyard::Strategy, ::trainyard::StrategyContext, Class, name, "1", description)
