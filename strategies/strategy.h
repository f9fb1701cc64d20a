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
  /// The accelerator and model of this rank, or null while only the declaration is wanted. The model is built by the
  /// time shard() is called.
  Accelerator* accelerator = nullptr;
  Model* model = nullptr;
};

/// The parts of a rank on which its strategy works. They live as long as the strategy does.
struct RankParts {
  Model* model = nullptr;
  Arena* arena = nullptr;
  World* world = nullptr;
  Passes* passes = nullptr;
  StepTrace* trace = nullptr;  ///< Where the strategy records what it does when; null if this is not wanted.
};

/// What is wanted from the gradients at the end of a step.
struct StepEnd {
  bool check_finite = false;  ///< True to find out whether any of them overflowed.
  double clip_value = 0;      ///< The largest absolute value of a gradient, as it is in the arena; 0 means any.
  bool norm = false;          ///< True to compute their norm, after that.
};

/// What is true of the gradients of all ranks together, and therefore the same on every rank.
struct StepSummary {
  bool finite = true;  ///< False only if some gradient overflowed and check_finite was set.
  double norm = 0;     ///< The L2 norm of all gradients; 0 if it was not asked for.
};

/// How the ranks work together on one model. A strategy lives inside the accelerator host, because it works on its
/// arena in place. It works on tensors alone, whatever the hardware is.
///
/// There are two kinds. Replicas, whose ranks all have the whole model and differ in how they reduce gradients, derive
/// from ReplicaStrategy and implement little besides `reduce`. The others derive from this class and implement the step
/// (`compute`), which by default every rank makes for itself.
///
/// The accelerator host calls the public functions below. It calls them in one order, the same on every rank, and they
/// call the hooks further below, whose defaults do nothing unless stated otherwise:
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
///     or, of a step that is skipped after its end or given up before it:
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

  /// Returns the part of the flat blocks that this rank keeps. It is asked once, before the arena is made.
  virtual ArenaShard shard(const ArenaLayout& /*layout*/) const { return {}; }

  /// Returns what the strategy holds and has sent, for the training metrics: "gradient_bytes", ...
  virtual std::vector<Scalar> stats() const { return {}; }

  /// Saves what the strategy keeps from step to step, and takes it back; see Stateful. By default there is nothing.
  /// Both are called on all ranks, save_state() after begin_snapshot() and restore_state() after start().
  void save_state(StateWriter& /*into*/) const override {}
  void restore_state(const StateReader& /*from*/) override {}

  /// Throws kUnsupported, naming what is supported, if `world_size` does not match the traits.
  void check_world_size(std::uint32_t world_size) const;

  /// Prepares the strategy. Called when the model and the arena exist. Throws kUnsupported if the ranks must share a
  /// process and do not.
  void set_up(const RankParts& parts);

  /// Makes all ranks start from the same parameters. Called when a checkpoint, if there is one, has been restored into
  /// the arena.
  void start();

  /// Computes forward and backward of one micro-batch. Returns the loss without its graph, or an undefined tensor if
  /// the batch is empty.
  at::Tensor train(const MicroBatch& batch);

  /// Completes the gradients of a step, so that the arena holds those that the optimizer should see. Called after the
  /// last micro-batch.
  StepSummary end_step(const StepEnd& wanted);

  /// Discards the gradients of a step, even before its end.
  void drop_step();

  /// Called before the optimizer is given the gradients of step `step`. Returns the number that their update has for
  /// the optimizer, or 0 if there is none because another rank makes it.
  std::uint64_t begin_update(std::uint64_t step) { return claim_update(step); }

  /// Called when the optimizer has changed the parameters that were announced, or when there was no update to make
  /// here.
  void end_update(std::uint64_t step);

  /// Called before and after evaluations and predictions, on all ranks. If an evaluation was broken off, the next call
  /// of the host ends it.
  Evaluation& begin_evaluation();
  void end_evaluation();

  /// Prepares the arena for a copy of its announced memory. Called before the copy, on all ranks.
  void begin_snapshot();

  /// Returns the traits for the planner.
  core::PluginTraits declared_traits() const final;

 protected:
  // The hooks, in the order in which they are called.

  /// Allocates memory and makes groups.
  virtual void prepare() {}

  /// Makes all ranks start from the same parameters and buffers. The default copies those of rank 0.
  virtual void synchronise(ArenaEdit& edit) { take_from_rank_0(edit); }

  /// Computes forward and backward of one micro-batch, including communication with other ranks; see train(). By
  /// default the rank computes alone.
  virtual at::Tensor compute(const MicroBatch& batch);

  /// Waits until the arena holds the gradients that the optimizer should see.
  virtual void complete_gradients() {}

  /// Discards gradients outside the arena and those being sent. The gradients in the arena are zeroed afterwards.
  virtual void drop_gradients(ArenaEdit& /*edit*/) {}

  /// Returns what begin_update() returns; see there. By default every rank makes the update of its step.
  virtual std::uint64_t claim_update(std::uint64_t step) { return step; }

  /// Exchanges parameters, if the strategy does that. Called when the update has been made.
  virtual void after_update(std::uint64_t /*step*/, ArenaEdit& /*edit*/) {}

  /// Returns the evaluation to use. The default serves ranks that hold the whole model.
  virtual std::unique_ptr<Evaluation> make_evaluation(ArenaEdit& edit);

  /// Ensures that the announced memory, including buffers, has the current values.
  virtual void before_snapshot(ArenaEdit& /*edit*/) {}

  // The following functions are what hooks work with.

  /// Replaces the parameters and buffers of every rank by those of rank 0.
  void take_from_rank_0(ArenaEdit& edit);
  void zero_gradients() { at::Tensor(arena().gradients()).zero_(); }

  const StrategyContext& context() const { return context_; }
  Model& model() const { return *parts_.model; }
  Arena& arena() const { return *parts_.arena; }
  World& world() const { return *parts_.world; }
  Passes& passes() const { return *parts_.passes; }
  StepTrace* trace() const { return parts_.trace; }

  /// Returns the rows that this rank has been given in the current step, and whether end_step was called for it.
  std::uint64_t step_samples() const { return step_samples_; }
  bool step_has_ended() const { return step_has_ended_; }

 private:
  StepSummary summary_of_step(const StepEnd& wanted);
  double norm_of_all(const at::Tensor& own_gradients) const;
  bool finite_everywhere(double norm) const;
  void begin_step();
  /// Runs a part of a step; an exception that comes out of it ends the step of the other ranks as well.
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
