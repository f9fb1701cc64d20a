#pragma once

#include <cstdint>
#include <vector>

#include "strategies/fsdp/sharded_group.h"
#include "strategies/shards.h"
#include "strategies/strategy.h"

namespace trainyard {

/// Fully sharded data parallel: every rank keeps a part of the parameters, of the gradients and of the optimizer's
/// state. A stage of the model is brought together on all ranks just before it is used, forward and backward, and let
/// go afterwards; its gradients are averaged and cut up as soon as they are there. What stages share stays together
/// during a step.
///
/// Beyond its part a rank needs memory for the largest stage (for two of them with `prefetch`), for what is shared, and
/// for the gradients of either.
///
/// Sources: Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models" (2020), stage 3;
/// Zhao et al., "PyTorch FSDP: Experiences on Scaling Fully Sharded Data Parallel" (2023).
class Fsdp final : public Strategy {
 public:
  explicit Fsdp(StrategyContext& context) : Strategy(context) {}

  ArenaShard shard(const ArenaLayout& layout) const override;
  void set_up(const Replica& replica) override;
  void start() override;
  at::Tensor train(const ModelBatch& batch, double weight, bool last) override;
  void train_nothing(bool last) override;
  double sum_over_shards(double value) override;

  std::vector<NamedMetric> evaluate(const ModelBatch& batch) override;
  void evaluate_nothing() override;
  /// Models predict as a whole: all parameters are brought together until the evaluation ends.
  Prediction predict(const ModelBatch& batch) override;
  void predict_nothing() override;
  void end_evaluation() override;

  std::vector<Scalar> stats() const override { return holdings().scalars(); }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  std::vector<std::uint64_t> bounds(const ArenaLayout& layout) const;
  at::Tensor scratch(std::int64_t elements);
  void make_groups();
  void take_memory();
  void tell() const;
  Holdings holdings() const;

  ShardedGroup& shared() { return groups_.back(); }
  void gather(ShardedGroup& group, const at::Tensor& memory);
  void request(std::size_t stage);
  void use(std::size_t stage, std::size_t next);
  void gather_shared();

  void step(const ModelBatch* batch, double weight);
  void forward_stages(const ModelBatch* batch);
  void forward_stage(std::size_t stage, const ModelBatch& batch);
  void backward_stages(bool has_samples, double weight);
  void backward_stage(std::size_t stage);
  void reduce(ShardedGroup& group);
  void finish_reduction();
  std::vector<NamedMetric> evaluate_stages(const ModelBatch* batch);

  Parameter<bool> prefetch_{*this, "prefetch", true, "bring the next stage together while one computes"};

  std::vector<Stage> stages_;         ///< Empty: the model is one piece, and everything is shared.
  std::vector<ShardedGroup> groups_;  ///< One for each stage, and the shared one.
  std::vector<std::uint64_t> bounds_;
  std::vector<at::Tensor> places_;  ///< In which stages are brought together, in turn.
  at::Tensor shared_place_;
  at::Tensor gradient_place_;
  at::Tensor shared_gradient_place_;
  std::vector<at::Tensor> inputs_;   ///< Of the stages, in a step, and of the loss.
  std::vector<at::Tensor> outputs_;  ///< The same.
  at::Tensor loss_;
  ShardedGroup* reducing_ = nullptr;  ///< Whose gradients are on their way.
};

}  // namespace trainyard
