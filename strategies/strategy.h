#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectives/collective.h"
#include "core/config/configurable.h"
#include "core/plugin/plugin.h"
#include "core/plugin/plugin_context.h"
#include "messages/arena.h"
#include "messages/scalar.h"
#include "models/model.h"
#include "strategies/forward_scope.h"
#include "tensors/arena.h"

namespace trainyard {

class Accelerator;
class GradientBuckets;
class StepTrace;

/// What a strategy is made with: its rank is in the PluginContext.
struct StrategyContext : PluginContext {
  // Of this rank; null while only the declaration is wanted. The model is built by the time shard() is asked for.
  Accelerator* accelerator = nullptr;
  Model* model = nullptr;
};

/// What the planner has to know before anything is started.
struct StrategyTraits {
  std::uint32_t min_ranks = 1;
  std::uint32_t max_ranks = 0;  ///< 0 = any number.
  bool one_process = false;     ///< All ranks are threads of one process; placed in others, the plan is refused.
  bool same_data = false;       ///< Every rank is given the same batches, not a part of the data of its own.
};

/// A run of neighbouring gradients that is reduced as one.
struct Bucket {
  std::uint32_t index = 0;         ///< 0 holds the parameters that backward finishes first: the last ones of forward.
  std::uint32_t count = 1;         ///< Buckets in all.
  std::uint64_t offset_bytes = 0;  ///< In the gradient block of the arena.
  std::uint64_t bytes = 0;
};

/// Something under way. `wait` returns when it is done, or throws what Work throws: errors that name the silent rank.
class Pending {
 public:
  Pending() = default;
  explicit Pending(std::function<void()> wait) : wait_(std::move(wait)) {}
  explicit Pending(Work work) : work_(work) {}
  void wait() {
    work_.wait();
    if (wait_) std::exchange(wait_, nullptr)();
  }

 private:
  std::function<void()> wait_;  ///< Empty: done already.
  Work work_;
};

/// What a strategy works on: the rank's model, its memory, and how the accelerator host wants it to be run. Lives as
/// long as the run.
struct Replica {
  Model* model = nullptr;
  Arena* arena = nullptr;
  Collective* world = nullptr;                ///< All ranks; null for a single one.
  StepTrace* trace = nullptr;                 ///< Where it says what it does when; null if nobody wants to know.
  std::chrono::milliseconds timeout{60'000};  ///< How long a rank that does not move is waited for.

  /// Makes and connects a further group; its members all call it, with the same name and ranks.
  std::function<std::unique_ptr<Collective>(const std::string& name, const std::vector<std::uint32_t>& ranks)>
      make_group;

  /// To be kept while a forward pass runs.
  std::function<ForwardScope()> forward_scope;
  /// Called with the loss before backward; what it returns is differentiated. Looks for anomalies, widens 16 bits.
  std::function<at::Tensor(at::Tensor loss)> check_loss;
};

/// How the ranks work together on one model. Lives inside the accelerator host, because it works on its arena in place;
/// hardware-neutral code calls the strategy, the strategy calls the accelerator.
///
/// The simplest kind, replicas with averaged gradients, overrides `reduce` alone. Others take more into their hands:
/// which part of the parameters a rank keeps (`shard`), how a micro-batch is computed (`train`), what happens around an
/// update. The order of the calls, on every rank:
///
///     set_up, start, { train..., finish_gradients, begin_update, end_update }..., with evaluations and snapshots
///     between
class Strategy : public Configurable {
 public:
  static constexpr const char* kKind = "strategy";
  using Context = StrategyContext;

  explicit Strategy(StrategyContext& context);
  ~Strategy() override;

  virtual StrategyTraits traits() const { return {}; }

  /// Throws kUnsupported if `world_size` is not among the traits, naming what is.
  virtual void check_world_size(std::uint32_t world_size) const;

  /// Which part of the flat blocks this rank keeps; asked once, before the arena is made.
  virtual ArenaShard shard(const ArenaLayout& /*layout*/) const { return {}; }

  /// Model and arena are there. Overridden, it calls this one first.
  virtual void set_up(const Replica& replica);

  /// The first announcement of the arena, for optimizer and checkpoint writer, can be changed here.
  virtual void announce(ArenaInfo& /*info*/) {}

  /// Makes all ranks start from the same parameters and buffers, those of rank 0, into which a checkpoint may have been
  /// restored.
  virtual void start();

  /// Forward and backward of one micro-batch on this rank; adds gradients times `weight` to what is there already.
  /// `last`: the step is complete after it, so what is finished may be reduced. Returns the loss, detached.
  virtual at::Tensor train(const ModelBatch& batch, double weight, bool last);

  /// Instead of train() on a rank that has no samples left while others do: takes part in what they do together.
  virtual void train_nothing(bool last);

  /// Waits until the arena holds what the optimizer shall see.
  virtual void finish_gradients();

  /// Gives up the gradients of a step that began.
  virtual void drop_gradients();

  /// The largest bucket it wants; 0 = all gradients in one, reduced when backward is through.
  virtual std::uint64_t bucket_bytes() const { return 0; }

  /// Starts to reduce one bucket in place and returns at once. `gradients` is flat, on this rank's device. Called in
  /// the same order on every rank, as soon as backward has finished the bucket.
  virtual Pending reduce(const Bucket& /*bucket*/, at::Tensor /*gradients*/) { return {}; }

  /// Called now and then while backward runs after its buckets have begun to be told: lets communication go on.
  virtual void progress();

  /// The sum over all ranks of what each computed over its own shard of the gradients, where they are shared out.
  virtual double sum_over_shards(double value) { return value; }

  /// Whether any rank has gradients that overflowed, since then all must skip the step. To be overridden where the
  /// gradients of ranks differ: elsewhere all see the same.
  virtual bool overflow_anywhere(bool here) { return here; }

  /// The optimizer is about to be given the gradients of step `step`. Returns the number of the update that they are
  /// for the optimizer; 0: there is none, since another rank makes it.
  virtual std::uint64_t begin_update(std::uint64_t step) { return step; }

  /// The optimizer has changed the parameters that were announced, or there was no update to make here.
  virtual void end_update(std::uint64_t /*step*/) {}

  /// Around evaluations and predictions, on all ranks: the model has whole and current parameters meanwhile.
  virtual void begin_evaluation() {}
  virtual void end_evaluation() {}
  virtual std::vector<NamedMetric> evaluate(const ModelBatch& batch);
  virtual Prediction predict(const ModelBatch& batch);
  /// Instead of them on a rank that has no samples left while others do.
  virtual void evaluate_nothing() {}
  virtual void predict_nothing() {}

  /// What the arena announces is about to be copied, on all ranks.
  virtual void begin_snapshot() {}

  /// What it holds and has sent, for the training metrics: "gradient_bytes", ...
  virtual std::vector<Scalar> stats() const { return {}; }

  /// The traits in words; what the planner and `trainyard plugin info` know of a strategy.
  std::map<std::string, std::string> facts() const override;

 protected:
  const StrategyContext& context() const { return context_; }
  const Replica& replica() const { return replica_; }
  Model& model() const { return *replica_.model; }
  Arena& arena() const { return *replica_.arena; }
  /// All ranks; only where there are several.
  Collective& world() const { return *replica_.world; }

  /// Operations of the world on a flat, contiguous tensor: in place where it is in host memory, else through a copy
  /// there, and then done on return.
  Pending all_reduce(at::Tensor flat, ReduceOp op) const;
  Pending broadcast(at::Tensor flat, std::uint32_t root) const;
  /// `bounds` in elements; see Collective.
  Pending reduce_scatter(at::Tensor flat, ReduceOp op, std::span<const std::uint64_t> bounds) const;
  Pending all_gather(at::Tensor flat, std::span<const std::uint64_t> bounds) const;

  /// Forward under autocast, then backward.
  at::Tensor forward(const ModelBatch& batch) const;
  at::Tensor backward(at::Tensor loss, double weight);

 private:
  StrategyContext context_;
  Replica replica_;
  std::unique_ptr<GradientBuckets> buckets_;
  std::vector<Pending> pending_;  ///< Reductions under way, of this step.
  at::Tensor weight_;             ///< 0-dimensional: the newest weight.
  double weight_value_ = 0;       ///< What `weight_` holds.
};

}  // namespace trainyard

/// Registers a strategy; the last line of its .cpp, inside no namespace.
#define TRAINYARD_STRATEGY(Class, name, description) \
  TRAINYARD_PLUGIN("strategy", ::trainyard::Strategy, ::trainyard::StrategyContext, Class, name, "1", description)
