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
  std::uint32_t index = 0;         ///< 0 holds the parameters that backward finishes first: the last ones of forward.
  std::uint32_t count = 1;         ///< Buckets in all.
  std::uint64_t offset_bytes = 0;  ///< In the gradient block of the arena.
  std::uint64_t bytes = 0;
};

/// Ranks that each have the whole model and a part of the data: replicas, which reduce their gradients. A strategy of
/// this kind says how a bucket of gradients is reduced; when that happens is decided here.
///
///     prepare_reduction, { reduce of every bucket, finish of every bucket, complete_reduction } of every step
///
/// None of these is called on a rank that is alone.
class ReplicaStrategy : public Strategy {
 public:
  explicit ReplicaStrategy(StrategyContext& context);
  ~ReplicaStrategy() override;

 protected:
  /// The largest bucket it wants; 0 = all gradients in one, reduced when backward is through.
  virtual std::uint64_t bucket_bytes() const { return 0; }

  /// Take memory, make groups.
  virtual void prepare_reduction() {}

  /// Starts to reduce one bucket in place and returns at once. `gradients` is flat, on this rank's device. Called in
  /// the same order on every rank, as soon as backward has finished the bucket; on a rank without samples as well, with
  /// gradients of zero.
  virtual Work reduce(const Bucket& bucket, const at::Tensor& gradients) = 0;

  /// What reduce() began has been waited for: does what is left to do with the bucket.
  virtual void finish(const Bucket& /*bucket*/, const at::Tensor& /*gradients*/) {}

  /// Every bucket is finished. For whoever reduces in another order than that of the buckets.
  virtual void complete_reduction() {}

  /// Called now and then while backward runs: lets communication go on.
  virtual void progress() { world().progress(); }

 private:
  /// A bucket on its way.
  struct Reduction {
    Bucket bucket;
    at::Tensor gradients;
    Work work;
  };

  void prepare() final;
  at::Tensor compute(const MicroBatch& batch) final;
  void complete_gradients() final;

  std::unique_ptr<GradientBuckets> buckets_;  ///< Null for a rank alone.
  std::vector<Reduction> reductions_;         ///< Of this step.
};

/// The parameter that replicas have in common, of what bucket_bytes() says.
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
