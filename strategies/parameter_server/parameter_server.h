// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "strategies/parameter_server/worker_table.h"
#include "strategies/replica_strategy.h"

namespace trainyard::parameter_server {

/// Determines which ranks update the parameters of a parameter server, and when; see ParameterServer.
enum class Mode : std::uint8_t { kSync, kBounded, kAsync };
constexpr auto words_of(Mode) { return words("mode of the parameter server", "sync", "bounded", "async"); }

}  // namespace trainyard::parameter_server

namespace trainyard {

/// A strategy in which the ranks, called workers, share one copy of the parameters and of the optimizer's state. This
/// copy, called the server, is in shared memory that rank 0 allocates. Each worker computes with its own copy of the
/// parameters. At the end of a step, the server's parameters are updated, and the worker copies them again.
///
/// mode    sync     gradients are averaged, and rank 0 makes one update with them; the result is that of `ddp`
///         bounded  every worker makes an update with its own gradients, one worker at a time. A worker begins a step
///                  only when no other worker is more than `staleness` steps behind; with 0, all updates of a step are
///                  made before any worker begins the next step
///         async    the same without the bound
///
/// In the modes bounded and async, every rank makes an update in each step. With the same learning rate, N ranks may
/// therefore change the parameters N times as much as one. A worker whose gradients overflow, or that has no samples,
/// skips its update, but its step still counts.
///
/// Before an evaluation or a prediction, the workers wait for each other, so that all of them use the same parameters.
/// For a checkpoint they need not wait, because no rank's optimizer gets gradients before the checkpoint writer has
/// copied the parameters.
///
/// Sources: Li et al., "Scaling Distributed Machine Learning with the Parameter Server" (2014); for the bound, Ho et
/// al., "More Effective Distributed ML via a Stale Synchronous Parallel Parameter Server" (2013).
class ParameterServer final : public ReplicaStrategy {
 public:
  explicit ParameterServer(StrategyContext& context) : ReplicaStrategy(context) {}

  StrategyTraits traits() const override {
    return {.share = RanksShare::kMemory,
            .gradients = is_sync() ? GradientsOfRanks::kEqual : GradientsOfRanks::kIndependent,
            .updates_on_host = true};
  }
  std::vector<Scalar> stats() const override;

 protected:
  std::uint64_t bucket_bytes() const override { return is_sync() ? 25 << 20 : 0; }
  void prepare_reduction() override;
  Work reduce(const Bucket& bucket, const at::Tensor& gradients) override;

  void synchronise(ArenaEdit& edit) override;
  void drop_gradients(ArenaEdit& edit) override;
  std::uint64_t claim_update(std::uint64_t step) override;
  void after_update(std::uint64_t step, ArenaEdit& edit) override;
  std::unique_ptr<Evaluation> make_evaluation(ArenaEdit& edit) override;

 private:
  bool is_sync() const { return *mode_ == parameter_server::Mode::kSync; }
  bool is_bounded() const { return *mode_ == parameter_server::Mode::kBounded; }
  std::uint64_t bound() const { return static_cast<std::uint64_t>(*staleness_); }

  Buffer share(const std::string& name, std::size_t bytes) const;
  void take_over_update(ArenaEdit& edit);
  void finish_step(ArenaEdit& edit);
  void pull(ArenaEdit& edit);
  void gather(ArenaEdit& edit);

  Parameter<parameter_server::Mode> mode_{*this, "mode", parameter_server::Mode::kSync,
                                          "when updates are made: sync, bounded, async"};
  Parameter<std::int64_t> staleness_{*this, "staleness", 4, "bounded: how many steps the slowest worker may be behind",
                                     at_least(0) | in_unit("steps")};

  Buffer memory_;      ///< The server's parameters. Empty if there is only one rank, which needs no server.
  at::Tensor server_;  ///< A flat view of the server's parameters.
  std::optional<parameter_server::WorkerTable> table_;
  /// The number of steps before the first one for which claim_update() is called: the step from which the run resumed,
  /// or 0 for a new run. The numbers of updates continue from there. Not used in the mode sync.
  std::optional<std::uint64_t> steps_before_;
};

}  // namespace trainyard
