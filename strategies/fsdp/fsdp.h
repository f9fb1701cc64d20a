// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "strategies/fsdp/stage_groups.h"
#include "strategies/strategy.h"

namespace trainyard {

/// Fully sharded data parallel: every rank keeps only a part of the parameters, of the gradients and of the optimizer's
/// state. The ranks gather the parameters of a stage (a layer or group of layers) just before its forward and its
/// backward pass, and free them afterwards. The gradients of a stage are averaged as soon as they are computed, and
/// each rank keeps its part of them. Parameters that several stages share stay gathered during both passes.
///
/// In addition to its part, a rank needs memory for the parameters and the gradients of the largest stage, and for the
/// shared parameters and their gradients. With `prefetch`, it needs the memory for the parameters of the largest stage
/// twice.
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

  /// Empty if the model is not divided into stages; all parameters are then treated as shared.
  std::vector<Stage> stages_;
  std::optional<fsdp::StageGroups> groups_;
  std::vector<at::Tensor> inputs_;   ///< During a step: the inputs of the stages and of the loss.
  std::vector<at::Tensor> outputs_;  ///< During a step: the outputs of the stages.
  at::Tensor loss_;
};

}  // namespace trainyard
