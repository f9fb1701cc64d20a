// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/memory/shared_pool.h"
#include "core/plugin/loader.h"
#include "core/rendezvous/rendezvous.h"
#include "strategies/strategy.h"

namespace trainyard::testing {

/// One rank of a RankTeam: a small model with stages, an arena, a strategy and a plain optimizer.
class TeamMember {
 public:
  TeamMember(const PluginContext& context, const std::string& strategy);

  Strategy& strategy() { return *strategy_; }
  Model& model() { return *model_; }
  const Arena& arena() const { return *arena_; }
  World& world() { return *world_; }

  /// Makes step number `step` of the run with the samples `rows`, which may be empty. Returns the strategy's summary;
  /// gradients() returns the gradients afterwards, multiplied by `loss_scale`.
  StepSummary step(std::uint64_t step, const ModelBatch& rows, double loss_scale = 1);

  /// Returns the strategy's state as a checkpoint would keep it.
  std::vector<SavedState> save();

  /// Continues from a checkpoint with the `parameters` that announced() returned on this rank, and the state of all
  /// ranks.
  void resume(const at::Tensor& parameters, const RestoredStates& states);

  /// Returns a copy of this rank's own part of the gradients of the last step, as the optimizer got them.
  const at::Tensor& gradients() const { return gradients_; }

  /// Returns a copy of this rank's own part of the parameters, as the optimizer and the checkpoint writer see it.
  at::Tensor announced() const;

 private:
  std::uint32_t rank_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<World> world_;
  std::unique_ptr<Passes> passes_;
  std::unique_ptr<Arena> arena_;
  ArenaInfo info_;
  at::Tensor gradients_;
  std::unique_ptr<Strategy> strategy_;
};

/// A team of ranks, which are threads of the test. Each has a strategy of its own, and a real collective connects them.
class RankTeam {
 public:
  /// `strategy` is a registered name, and `parameters` is a JSON object.
  RankTeam(std::uint32_t ranks, const std::string& strategy, const std::string& parameters = "{}");
  ~RankTeam();

  std::uint32_t size() const { return static_cast<std::uint32_t>(members_.size()); }
  TeamMember& member(std::uint32_t rank) { return *members_[rank]; }

  /// Runs `action` on the threads of all ranks at the same time, and waits for all of them. Throws the error of the
  /// lowest-numbered rank that failed.
  void each(const std::function<void(std::uint32_t rank, TeamMember& member)>& action);

  /// Returns all parameters: the parameters of rank 0 if it has all of them, otherwise the parts of all ranks one after
  /// another.
  at::Tensor whole_parameters();

 private:
  void on_threads(const std::function<void(std::uint32_t rank)>& action);

  core::PluginLoader plugins_;
  std::shared_ptr<core::Rendezvous> rendezvous_;
  core::SharedPool pool_;
  std::vector<std::unique_ptr<TeamMember>> members_;
};

/// Returns the mean of `ranks` gradients. A team of one rank computes each of them, from `made_up_rows(rank, 4)`, and
/// they are added up in the order of `rank`.
at::Tensor mean_of_gradients_alone(const std::string& strategy, std::uint32_t ranks);

/// Returns the number of samples in `rows`.
std::uint64_t samples_of(const ModelBatch& rows);

/// Returns `rows` made-up samples for the model of a member. The same `number` gives the same samples.
ModelBatch made_up_rows(std::uint64_t number, std::int64_t rows);

}  // namespace trainyard::testing
