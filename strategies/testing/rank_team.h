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

/// One rank of a RankTeam, for tests of strategies: a small model with stages, memory for its parameters and gradients
/// (an arena), the strategy and a simple optimizer.
class TeamMember {
 public:
  TeamMember(const PluginContext& context, const std::string& strategy, const std::string& model);

  Strategy& strategy() { return *strategy_; }
  Model& model() { return *model_; }
  const Arena& arena() const { return *arena_; }
  World& world() { return *world_; }

  /// Makes training step number `step` with the samples `rows`, which may be empty. Returns the result of
  /// Strategy::end_step(). Afterwards gradients() returns the gradients of the step, still multiplied by `loss_scale`.
  StepSummary step(std::uint64_t step, const ModelBatch& rows, double loss_scale = 1);

  /// Returns the strategy's state as it would be in a checkpoint.
  std::vector<SavedState> save();

  /// Continues from a checkpoint. `parameters` is what announced() returned on this rank, and `states` contains the
  /// result of save() of all ranks.
  void resume(const at::Tensor& parameters, const RestoredStates& states);

  /// Returns this rank's part of the gradients of the last step, as the optimizer got them.
  const at::Tensor& gradients() const { return gradients_; }

  /// Returns a copy of this rank's part of the parameters: the part that its optimizer updates and that is saved in a
  /// checkpoint.
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

/// Several ranks for a test, as threads of this process. Each has its own strategy, and a real collective connects
/// them.
class RankTeam {
 public:
  /// `strategy` is the name of a strategy plugin, and `parameters` is a JSON object with its parameters. `model` is a
  /// JSON object with the parameters of the model: with "has_empty_parameter", one of its tensors has no elements.
  RankTeam(std::uint32_t ranks, const std::string& strategy, const std::string& parameters = "{}",
           const std::string& model = "{}");
  ~RankTeam();

  std::uint32_t size() const { return static_cast<std::uint32_t>(members_.size()); }
  TeamMember& member(std::uint32_t rank) { return *members_[rank]; }

  /// Runs `action` on the threads of all ranks at the same time, and waits for all of them. Throws the error of the
  /// lowest-numbered rank that failed.
  void each(const std::function<void(std::uint32_t rank, TeamMember& member)>& action);

  /// Returns all parameters in one tensor, which consists of the parts of all ranks if no rank has all parameters.
  at::Tensor whole_parameters();

 private:
  void on_threads(const std::function<void(std::uint32_t rank)>& action);

  core::PluginLoader plugins_;
  std::shared_ptr<core::Rendezvous> rendezvous_;
  core::SharedPool pool_;
  std::vector<std::unique_ptr<TeamMember>> members_;
};

/// Returns the expected gradient of a team of `ranks` ranks in which each rank has the samples `made_up_rows(rank, 4)`:
/// the mean of the gradients that a single rank computes from each of these batches.
at::Tensor mean_of_gradients_alone(const std::string& strategy, std::uint32_t ranks);

/// Returns the number of samples in `rows`.
std::uint64_t samples_of(const ModelBatch& rows);

/// Returns `rows` random samples for the model of a TeamMember. The same `number` gives the same samples.
ModelBatch made_up_rows(std::uint64_t number, std::int64_t rows);

}  // namespace trainyard::testing
