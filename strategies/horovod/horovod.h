#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "strategies/half_gradients.h"
#include "strategies/replica_strategy.h"

namespace trainyard {

/// Data parallel with tensor fusion: gradients are not cut into buckets beforehand; at every cycle, those that all
/// ranks have ready by then are averaged as one.
///
/// What Horovod's coordinator decides is the outcome of a vote here: the number of gradients that a rank has ready, of
/// which the ranks take the smallest (an all-reduce of one number). The next vote is held a cycle later. Gradients
/// become ready in one order and lie in the arena in that order, so fusing them copies nothing.
///
/// No rank can wait for one that does not come: votes and reductions are asynchronous, every rank asks for the same
/// ones in the same order (each follows from the outcome of the vote before), and holds votes until one says that
/// everything is ready. How often that is depends on time, and so does what is fused; the sum of an element does not,
/// where the collective adds up in the order of the ranks.
///
/// Source: Sergeev and Del Balso, "Horovod: fast and easy distributed deep learning in TensorFlow" (2018).
class Horovod final : public ReplicaStrategy {
 public:
  explicit Horovod(StrategyContext& context) : ReplicaStrategy(context) {}

  std::vector<Scalar> stats() const override;

 protected:
  /// Every parameter is a bucket.
  std::uint64_t bucket_bytes() const override { return 1; }
  void prepare_reduction() override;
  Work reduce(const Bucket& bucket, const at::Tensor& gradients) override;
  void progress() override;
  void complete_reduction() override;

 private:
  using Clock = std::chrono::steady_clock;

  /// Gradients that are averaged as one.
  struct Fused {
    at::Tensor gradients;
    Work work;
  };

  void vote();
  void count_votes();
  bool time_to_vote() const;
  void reduce_up_to(std::size_t end);
  void reduce_fused(std::size_t begin, std::size_t end);
  std::uint64_t bytes_between(std::size_t begin, std::size_t end) const;

  Parameter<double> cycle_time_ms_{*this, "cycle_time_ms", 1, "between two decisions about what is reduced next",
                                   at_least(0) | in_unit("ms")};
  Parameter<double> fusion_mb_{*this, "fusion_mb", 64,
                               "gradients reduced as one at most; as many that are ready do not wait for the cycle",
                               positive() | in_unit("MiB")};
  Parameter<std::string> compression_{*this, "compression", "none", "in what form gradients travel",
                                      one_of({"none", "fp16"})};

  std::optional<HalfGradients> half_;  ///< With compression.

  // Of the present step; gradients are counted in the order in which they become ready.
  std::vector<Bucket> ready_;      ///< That this rank has.
  std::size_t total_ = 0;          ///< Of the model.
  std::size_t sent_ = 0;           ///< That are being reduced, on all ranks.
  std::vector<Fused> reductions_;  ///< Of those that were sent.
  std::optional<Work> voting_;     ///< The vote under way.
  std::int64_t ballot_ = 0;        ///< Before it is done what this rank has ready, then what all have.
  Clock::time_point last_vote_;
  std::uint64_t votes_ = 0;
  std::uint64_t fused_ = 0;  ///< Reductions of the last step.
};

}  // namespace trainyard
