// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "strategies/fsdp/stage_groups.h"
#include "strategies/strategy.h"

namespace trainyard {

/// Fully sharded data parallel: every rank keeps a part of the parameters, of the gradients and of the optimizer's
/// state. All ranks gather a stage of the model just before it is used, forward and backward, and release it
/// afterwards. The gradients of a stage are averaged and sharded as soon as they are computed. Parameters that several
/// stages share stay gathered during a step.
///
/// In addition to its part, a rank needs memory for the largest stage (with `prefetch`, for two stages) and for the
/// shared parameters. The gradients need as much memory again as the largest stage and the shared parameters.
///
/// Sources: Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models" (2020), stage 3;
/// Zhao et al., "PyTorch FSDP: Experiences on Scaling Fully Sharded Data Parallel" (2023).
class Fsdp final : public Strategy {
 public:
  explicit Fsdp(StrategyContext& context) : Strategy(context) {}

  StrategyTraits traits() const override { return {.gradients = GradientsOfRanks::kParts}; }
  ArenaShard shard(const ArenaLayout& layout) const override;
  std::vector<Scalar> stats() const override { return groups_->holdings().scalars(); }

 protected:
  void prepare() override;
  void synchronise(ArenaEdit& edit) override;
  at::Tensor compute(const MicroBatch& batch) override;
  std::unique_ptr<Evaluation> make_evaluation(ArenaEdit& edit) override;

 private:
  void tell() const;
  void forward_stages(const MicroBatch& batch);
  void forward_stage(std::size_t stage, const MicroBatch& batch);
  void backward_stages(const MicroBatch& batch);
  void backward_stage(std::size_t stage);

  Parameter<bool> prefetch_{*this, "prefetch", true, "gather the next stage while the current one computes"};

  std::vector<Stage> stages_;  ///< Empty if the model is one piece; all its parameters then form the shared group.
  std::optional<fsdp::StageGroups> groups_;
  std::vector<at::Tensor> inputs_;   ///< During a step: the inputs of the stages and of the loss.
  std::vector<at::Tensor> outputs_;  ///< During a step: the outputs of the stages.
  at::Tensor loss_;
};

}  // namespace trainyard
