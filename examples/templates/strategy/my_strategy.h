// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "strategies/replica_strategy.h"

namespace example {

/// A strategy for data parallelism: every rank has the whole model and a part of the data, and the ranks average their
/// gradients.
class MyStrategy final : public trainyard::ReplicaStrategy {
 public:
  explicit MyStrategy(trainyard::StrategyContext& context) : ReplicaStrategy(context) {}

  trainyard::StrategyTraits traits() const override { return {.min_ranks = 2}; }

 protected:
  std::uint64_t bucket_bytes() const override { return bucket_size_.bytes(); }

  /// Starts to average one part of the gradients (a bucket) over all ranks. Returns without waiting for the result,
  /// because the backward pass is still running.
  trainyard::Work reduce(const trainyard::Bucket& bucket, const at::Tensor& gradients) override;

  /// Called when the gradients of the bucket have been reduced, before the optimizer uses them.
  void finish(const trainyard::Bucket& bucket, const at::Tensor& gradients) override;

 private:
  trainyard::BucketSize bucket_size_{*this};
  trainyard::Parameter<double> factor_{*this, "factor", 1.0, "what the mean gradients are multiplied by",
                                       trainyard::positive()};
};

}  // namespace example
