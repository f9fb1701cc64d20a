// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "strategies/strategy.h"

namespace trainyard {

class GradientBuckets;

/// A run of neighbouring gradients that is reduced as one.
struct Bucket {
  std::uint32_t index = 0;  ///< Bucket 0 holds the parameters that backward finishes first: the last ones of forward.
  std::uint32_t count = 1;  ///< The number of buckets.
  std::uint64_t offset_bytes = 0;  ///< The place in the gradient block of the arena.
  std::uint64_t bytes = 0;
};

/// Ranks that each have the whole model and a part of the data: replicas, which reduce their gradients. A strategy of
/// this kind says how a bucket of gradients is reduced; this class decides when.
///
///     prepare_reduction, { reduce of every bucket, finish of every bucket, complete_reduction } of every step
///
/// None of these is called on a single rank.
class ReplicaStrategy : public Strategy {
 public:
  explicit ReplicaStrategy(StrategyContext& context);
  ~ReplicaStrategy() override;

 protected:
  /// Returns the size to which a bucket is filled before it is reduced. A parameter is never cut, so a bucket may be
  /// larger. 0 means all gradients in one bucket, reduced after backward.
  virtual std::uint64_t bucket_bytes() const { return 0; }

  /// Takes memory and makes groups.
  virtual void prepare_reduction() {}

  /// Starts to reduce one bucket in place and returns at once. `gradients` is flat, on this rank's device. It is called
  /// in the same order on every rank, as soon as backward has finished the bucket; on a rank without samples as well,
  /// with gradients of zero.
  virtual Work reduce(const Bucket& bucket, const at::Tensor& gradients) = 0;

  /// Completes a bucket. Called when the Work that reduce() returned has been waited for.
  virtual void finish(const Bucket& /*bucket*/, const at::Tensor& /*gradients*/) {}

  /// Called when every bucket is finished, for strategies that reduce in another order than that of the buckets.
  virtual void complete_reduction() {}

  /// Lets communication make progress. Called from time to time during the backward pass.
  virtual void progress() { world().progress(); }

 private:
  /// A bucket that is being reduced.
  struct Reduction {
    Bucket bucket;
    at::Tensor gradients;
    Work work;
  };

  void prepare() final;
  at::Tensor compute(const MicroBatch& batch) final;
  void complete_gradients() final;

  std::unique_ptr<GradientBuckets> buckets_;  ///< Null for a single rank.
  std::vector<Reduction> reductions_;         ///< The reductions of this step.
};

/// The parameter that replicas have in common, which determines bucket_bytes().
class BucketSize {
 public:
  explicit BucketSize(Configurable& owner)
      : megabytes_{owner, "bucket_mb", 25, "gradients reduced as one, after a first bucket of 1; 0 = all",
                   at_least(0) | in_unit("MiB")} {}

  std::uint64_t bytes() const { return static_cast<std::uint64_t>(*megabytes_ * (1 << 20)); }

 private:
  Parameter<double> megabytes_;
};

}  // namespace trainyard
