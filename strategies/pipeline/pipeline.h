// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "strategies/pipeline/other_ranks.h"
#include "strategies/pipeline/schedule.h"
#include "strategies/pipeline/segment.h"
#include "strategies/strategy.h"

namespace trainyard {

/// A strategy that divides the stages of a model (layers or groups of layers) among the ranks: each rank has only the
/// parameters, gradients and optimizer state of its own stages. All ranks get the same batches. A batch is divided into
/// micro-batches, which pass through the ranks one after another.
///
/// Sources: Huang et al., "GPipe: Efficient Training of Giant Neural Networks using Pipeline Parallelism" (2019);
/// Narayanan et al., "PipeDream: Generalized Pipeline Parallelism for DNN Training" (2019) for the schedule 1f1b, here
/// with a flush at the end of every step, so that the result is the same as with one rank.
///
/// Errors  kUnsupported (a model without stages; more ranks than stages; a parameter that stages on two ranks share)
class Pipeline final : public Strategy {
 public:
  explicit Pipeline(StrategyContext& context) : Strategy(context) {}

  StrategyTraits traits() const override { return {.same_data = true, .gradients = GradientsOfRanks::kParts}; }
  ArenaShard shard(const ArenaLayout& layout) const override;
  /// Returns the largest number of micro-batches whose activations this rank has kept at the same time, and the size of
  /// its parameters in bytes.
  std::vector<Scalar> stats() const override;

 protected:
  void prepare() override;
  void synchronise(ArenaEdit& edit) override;
  /// Divides `batch` further, into the micro-batches of the pipeline. Returns the loss over all samples of `batch`, on
  /// every rank.
  at::Tensor compute(const MicroBatch& batch) override;
  std::unique_ptr<Evaluation> make_evaluation(ArenaEdit& edit) override;
  void before_snapshot(ArenaEdit& /*edit*/) override { others_->gather_buffers(); }

 private:
  /// A micro-batch of the pipeline, between its forward and its backward pass on this rank.
  struct Part {
    MicroBatch batch;
    double share = 1;   ///< Its number of samples as a fraction of that of the whole batch.
    at::Tensor input;   ///< Kept until the backward pass, which computes the gradient of the input.
    at::Tensor output;  ///< Kept until the backward pass; on the last rank, this is the loss.
  };

  pipeline::Placement placement(const ArenaLayout& layout) const;
  std::vector<Part> cut(const MicroBatch& batch) const;
  std::vector<pipeline::Action> schedule(std::size_t parts) const;
  void forward(Part& part);
  void backward(Part& part, const Part* next_forward);

  Parameter<pipeline::ScheduleKind> schedule_{
      *this, "schedule", pipeline::ScheduleKind::kOneForwardOneBackward,
      "1f1b holds few micro-batches at a time, gpipe all of them; the result is the same"};
  Parameter<std::int64_t> micro_batches_{*this, "micro_batches", 0, "parts of a batch; 0 = as many as ranks",
                                         at_least(0)};

  std::optional<pipeline::Segment> segment_;
  std::optional<pipeline::OtherRanks> others_;
  double loss_ = 0;  ///< On the last rank: the loss of the current batch.
  std::size_t held_ = 0;
  std::size_t most_held_ = 0;
};

}  // namespace trainyard
