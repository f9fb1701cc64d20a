#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/config/configurable.h"
#include "core/plugin/plugin.h"
#include "core/plugin/plugin_context.h"
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

/// What a strategy is made with: its rank is in the PluginContext.
struct StrategyContext : PluginContext {
  // Of this rank; null while only the declaration is wanted. The model is built by the time shard() is asked for.
  Accelerator* accelerator = nullptr;
  Model* model = nullptr;
};

/// How the gradients of the ranks are related when a step ends. What the ranks have to tell each other about them
/// follows from it.
enum class GradientsOfRanks : std::uint8_t {
  kEqual,        ///< Every rank has the same ones.
  kParts,        ///< Every rank has a part of the same ones.
  kOwn,          ///< Every rank has its own, but a step that one rank skips is skipped by all.
  kIndependent,  ///< Every rank has its own, and skips steps by itself.
};

/// What the planner and the host have to know of a strategy before anything is started.
struct StrategyTraits {
  std::uint32_t min_ranks = 1;
  std::uint32_t max_ranks = 0;  ///< 0 = any number.
  bool one_process = false;     ///< All ranks are threads of one process; placed in others, they are refused.
  bool same_data = false;       ///< Every rank is given the same batches, not a part of the data of its own.
  GradientsOfRanks gradients = GradientsOfRanks::kEqual;
};

/// The parts of a rank that its strategy works on. They live as long as the strategy does.
struct RankParts {
  Model* model = nullptr;
  Arena* arena = nullptr;
  World* world = nullptr;
  Passes* passes = nullptr;
  StepTrace* trace = nullptr;  ///< Where it says what it does when; null if nobody wants to know.
};

/// What is wanted of the gradients at the end of a step.
struct StepEnd {
  bool check_finite = false;  ///< Find out whether any of them overflowed.
  double clip_value = 0;      ///< Their largest absolute value, as they are in the arena; 0 = any.
  bool norm = false;          ///< Compute their norm, after that.
};

/// What is true of the gradients of all ranks together, and therefore the same on every rank.
struct StepSummary {
  bool finite = true;  ///< False only if that was asked for.
  double norm = 0;     ///< L2, of all gradients; 0 if it was not asked for.
};

/// How the ranks work together on one model. Lives inside the accelerator host, because it works on its arena in place;
/// hardware-neutral code calls the strategy, the strategy calls the accelerator.
///
/// There are two kinds. Replicas, whose ranks all have the whole model and differ in how they reduce gradients, derive
/// from ReplicaStrategy and implement little beside `reduce`. The others derive from this class and implement the step
/// (`compute`), which by default every rank makes for itself.
///
/// The public functions below are the host's. They are called in one order, on every rank alike, and they call the
/// hooks further below, whose defaults do nothing unless said otherwise:
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
///         begin_snapshot                       -> before_snapshot
// clang-format on
///
/// Hooks that may change parameters are given an edit; the others must not.
class Strategy : public Configurable {
 public:
  static constexpr const char* kKind = "strategy";
  using Context = StrategyContext;

  explicit Strategy(StrategyContext& context);

  virtual StrategyTraits traits() const { return {}; }

  /// Which part of the flat blocks this rank keeps; asked once, before the arena is made.
  virtual ArenaShard shard(const ArenaLayout& /*layout*/) const { return {}; }

  /// What it holds and has sent, for the training metrics: "gradient_bytes", ...
  virtual std::vector<Scalar> stats() const { return {}; }

  /// Throws kUnsupported if `world_size` is not among the traits, naming what is.
  void check_world_size(std::uint32_t world_size) const;

  /// Model and arena are there. Throws kUnsupported if the ranks must share a process and do not.
  void set_up(const RankParts& parts);

  /// A checkpoint, if there is one, has been restored into the arena.
  void start();

  /// Forward and backward of one micro-batch. Returns the loss without its graph, or an undefined tensor if the batch
  /// is empty.
  at::Tensor train(const MicroBatch& batch);

  /// The micro-batches of the step are through: makes the gradients those that the optimizer shall see.
  StepSummary end_step(const StepEnd& wanted);

  /// Forgets the gradients of a step, also before its end.
  void drop_step();

  /// The optimizer is about to be given the gradients of step `step`. Returns the number that their update has for the
  /// optimizer; 0: there is none, since another rank makes it.
  std::uint64_t begin_update(std::uint64_t step) { return claim_update(step); }

  /// The optimizer has changed the parameters that were announced, or there was no update to make here.
  void end_update(std::uint64_t step);

  /// Around evaluations and predictions, on all ranks. What follows one that was broken off ends it.
  Evaluation& begin_evaluation();
  void end_evaluation();

  /// What the arena announces is about to be copied, on all ranks.
  void begin_snapshot();

  /// The traits in words; what the planner and `trainyard plugin info` know of a strategy.
  std::map<std::string, std::string> facts() const final;

 protected:
  // Hooks, in the order in which they are called.

  /// Take memory, make groups.
  virtual void prepare() {}

  /// Make all ranks start from the same parameters and buffers. By default those of rank 0.
  virtual void synchronise(ArenaEdit& edit) { take_from_rank_0(edit); }

  /// Forward and backward of one micro-batch, and what the ranks do together for it; see train(). By default the rank
  /// computes alone.
  virtual at::Tensor compute(const MicroBatch& batch);

  /// Wait until the arena holds the gradients that the optimizer shall see.
  virtual void complete_gradients() {}

  /// Forget gradients that are elsewhere or on their way; those in the arena are zeroed after it.
  virtual void drop_gradients(ArenaEdit& /*edit*/) {}

  /// See begin_update.
  virtual std::uint64_t claim_update(std::uint64_t step) { return step; }

  /// The update is made: exchange parameters, if the strategy does.
  virtual void after_update(std::uint64_t /*step*/, ArenaEdit& /*edit*/) {}

  /// An evaluation begins. By default one of ranks that have the whole model.
  virtual std::unique_ptr<Evaluation> make_evaluation(ArenaEdit& edit);

  /// Have current values in what was announced, buffers included.
  virtual void before_snapshot(ArenaEdit& /*edit*/) {}

  // What hooks work with.

  /// Parameters and buffers of every rank become those of rank 0.
  void take_from_rank_0(ArenaEdit& edit);
  void zero_gradients() { at::Tensor(arena().gradients()).zero_(); }

  const StrategyContext& context() const { return context_; }
  Model& model() const { return *parts_.model; }
  Arena& arena() const { return *parts_.arena; }
  World& world() const { return *parts_.world; }
  Passes& passes() const { return *parts_.passes; }
  StepTrace* trace() const { return parts_.trace; }

  /// Rows that this rank has been given in the present step, and whether end_step was called for it.
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
  std::unique_ptr<Evaluation> evaluation_;  ///< Under way; else null.
  std::uint64_t step_samples_ = 0;
  bool step_has_ended_ = false;
};

}  // namespace trainyard

/// Registers a strategy; the last line of its .cpp, inside no namespace.
#define TRAINYARD_STRATEGY(Class, name, description) \
  TRAINYARD_PLUGIN("strategy", ::trainyard::Strategy, ::trainyard::StrategyContext, Class, name, "1", description)
