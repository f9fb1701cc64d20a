#pragma once

#include <optional>
#include <string>
#include <vector>

#include "strategies/pipeline/placement.h"
#include "strategies/pipeline/schedule.h"
#include "strategies/pipeline/stage_link.h"
#include "strategies/strategy.h"
#include "tensors/borrowed_block.h"

namespace trainyard {

/// The stages of a model over the ranks: each rank has the parameters, gradients and optimizer state of its own stages
/// alone. Batches, which all ranks are given alike, are cut into micro-batches that follow each other through the
/// ranks.
///
/// Sources: Huang et al., "GPipe: Efficient Training of Giant Neural Networks using Pipeline Parallelism" (2019);
/// Narayanan et al., "PipeDream: Generalized Pipeline Parallelism for DNN Training" (2019) for 1f1b, here with a flush
/// at the end of every step, so that the result is that of one rank.
///
/// Errors  kUnsupported (a model of one piece; more ranks than stages; a parameter that stages on two ranks share)
class Pipeline final : public Strategy {
 public:
  explicit Pipeline(StrategyContext& context) : Strategy(context) {}

  StrategyTraits traits() const override { return {.same_data = true}; }
  ArenaShard shard(const ArenaLayout& layout) const override;
  void set_up(const Replica& replica) override;
  void start() override;

  /// Returns the loss of the whole batch, on every rank.
  at::Tensor train(const ModelBatch& batch, double weight, bool last) override;
  double sum_over_shards(double value) override;

  std::vector<NamedMetric> evaluate(const ModelBatch& batch) override;
  /// Models predict as a whole: the parameters of all ranks are brought together until the evaluation ends.
  Prediction predict(const ModelBatch& batch) override;
  void end_evaluation() override { others_.take_back(); }
  void begin_snapshot() override { share_buffers(); }

  /// The most micro-batches whose activations were held at once, and the bytes of parameters on this rank.
  std::vector<Scalar> stats() const override;

 private:
  /// A part of the batch on its way through this rank.
  struct MicroBatch {
    ModelBatch batch;
    double share = 1;   ///< Of the samples of the whole batch.
    at::Tensor input;   ///< From forward to backward, with its gradient then.
    at::Tensor output;  ///< The same; of the last rank it is the loss.
  };

  std::uint32_t rank() const { return context().rank; }
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(placement_.stages.size() - 1); }
  bool is_first() const { return rank() == 0; }
  bool is_last() const { return rank() + 1 == ranks(); }

  void release_others();
  std::vector<MicroBatch> cut(const ModelBatch& batch) const;
  std::vector<PipelineAction> schedule(std::size_t micro_batches) const;
  at::Tensor input_of(const ModelBatch& batch);
  at::Tensor run_stages(at::Tensor values) const;
  void forward_one(MicroBatch& one);
  void backward_one(MicroBatch& one, double weight, const MicroBatch* next_forward);
  at::Tensor share_numbers(std::vector<double> numbers) const;
  void gather_parameters();
  void share_buffers() const;

  Parameter<std::string> schedule_{*this, "schedule", "1f1b",
                                   "1f1b holds few micro-batches at a time, gpipe all of them; the result is the same",
                                   one_of({"1f1b", "gpipe"})};
  Parameter<std::int64_t> micro_batches_{*this, "micro_batches", 0, "parts of a batch; 0 = as many as ranks",
                                         at_least(0)};

  std::vector<Stage> stages_;  ///< All of the model.
  Placement placement_;
  std::optional<StageLink> previous_;
  std::optional<StageLink> next_;
  BorrowedBlock others_;  ///< What the parameters of other ranks' stages are views of: without memory but to predict.
  std::vector<std::string> metric_names_;
  double loss_ = 0;  ///< Of the batch that is trained on, on the last rank.
  std::size_t held_ = 0;
  std::size_t most_held_ = 0;
};

}  // namespace trainyard
