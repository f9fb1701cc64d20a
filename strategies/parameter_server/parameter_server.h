#pragma once

#include <optional>

#include "strategies/parameter_server/worker_table.h"
#include "strategies/strategy.h"

namespace trainyard {

/// Parameters and the optimizer's state lie once, in shared memory that rank 0 makes: the server. All ranks are
/// workers. A worker computes with a copy of its own; at the end of a step its optimizer updates the server's
/// parameters with its gradients, then it takes a new copy. One worker at a time.
///
/// mode    sync     gradients are averaged and rank 0 makes one update of them; equals ddp
///         bounded  every worker makes an update of its own, and begins a step only when no other one is more than
///                  `staleness` steps behind; with 0, all updates of a step are made before anybody begins the next
///         async    the same without the bound
///
/// In the last two, a step of the run is an update by each rank, so with the same learning rate the parameters move up
/// to as many times as far as there are ranks. What gradients of a worker overflow, or a worker without samples, makes
/// no update; its clock goes on.
///
/// Evaluations and predictions wait for all workers, and all use the same parameters. Snapshots need no meeting: no
/// rank sends gradients before the copy is made.
///
/// Source: Li et al., "Scaling Distributed Machine Learning with the Parameter Server" (2014); the bound: Ho et al.,
/// "More Effective Distributed ML via a Stale Synchronous Parallel Parameter Server" (2013).
class ParameterServer final : public Strategy {
 public:
  explicit ParameterServer(StrategyContext& context) : Strategy(context) {}

  void set_up(const Replica& replica) override;
  void announce(ArenaInfo& info) override;
  void start() override;

  std::uint64_t bucket_bytes() const override { return is_sync() ? 25 << 20 : 0; }
  Pending reduce(const Bucket& bucket, at::Tensor gradients) override;
  at::Tensor train(const ModelBatch& batch, double weight, bool last) override;
  void finish_gradients() override;
  void drop_gradients() override;

  std::uint64_t begin_update(std::uint64_t step) override;
  void end_update(std::uint64_t step) override;
  void begin_evaluation() override;
  std::vector<Scalar> stats() const override;

 private:
  bool is_sync() const { return *mode_ == "sync"; }
  bool is_bounded() const { return *mode_ == "bounded"; }
  std::uint64_t bound() const { return static_cast<std::uint64_t>(*staleness_); }

  Buffer share(const std::string& name, std::size_t bytes) const;
  void take_over_update();
  void finish_step();
  void pull();
  void gather();

  Parameter<std::string> mode_{*this, "mode", "sync", "who updates when: sync, bounded, async",
                               one_of({"sync", "bounded", "async"})};
  Parameter<std::int64_t> staleness_{*this, "staleness", 4, "bounded: how far the slowest worker may be behind",
                                     at_least(0) | in_unit("steps")};

  Buffer memory_;      ///< The server's parameters; empty for a single rank, which needs no server.
  at::Tensor server_;  ///< A flat view of them.
  std::optional<parameter_server::WorkerTable> table_;
  std::optional<std::uint64_t> first_step_;  ///< Steps that were done before this run, known from the first update on.
  bool has_trained_ = false;                 ///< There are gradients of the present step ...
  bool is_complete_ = false;                 ///< ... and of all its micro-batches.
};

}  // namespace trainyard
