// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "strategies/strategy.h"

namespace trainyard {

class GradientBuckets;

/// A contiguous range of the gradients that the ranks reduce with one operation.
struct Bucket {
  /// The index of the bucket. Bucket 0 contains the gradients that the backward pass finishes first, which are at the
  /// end of the gradient block.
  std::uint32_t index = 0;
  std::uint32_t count = 1;         ///< The number of buckets into which all gradients are divided.
  std::uint64_t offset_bytes = 0;  ///< The offset of the bucket in the flat block of all gradients.
  std::uint64_t bytes = 0;
};

/// The base class of strategies whose ranks are replicas: each rank has the whole model and a part of the data, and the
/// ranks reduce their gradients. A derived class determines how a bucket of gradients is reduced; this class determines
/// when. It calls these hooks of the derived class:
///
///     prepare_reduction, then in every step: reduce for each bucket, finish for each bucket, complete_reduction
///
/// With a single rank, none of these hooks is called.
class ReplicaStrategy : public Strategy {
 public:
  explicit ReplicaStrategy(StrategyContext& context);
  ~ReplicaStrategy() override;

 protected:
  /// Returns the intended size of a bucket, in bytes. The first bucket is intended to have 1 MiB, or the returned size
  /// if that is smaller. A parameter is never divided between two buckets, so a bucket may become larger. 0 means a
  /// single bucket with all gradients, which is reduced when the backward pass has finished all of them.
  virtual std::uint64_t bucket_bytes() const { return 0; }

  /// Called once, before the first step. A derived class allocates memory and makes groups of ranks here. The default
  /// does nothing.
  virtual void prepare_reduction() {}

  /// Starts to reduce one bucket in place and returns immediately. `gradients` is the bucket's part of the flat
  /// gradient block, on this rank's device. Called for all buckets in the same order on every rank, normally while the
  /// last backward pass of the step is still running. A rank without samples in the last micro-batch has no such pass;
  /// on this rank, reduce() is called at the end of the step.
  virtual Work reduce(const Bucket& bucket, const at::Tensor& gradients) = 0;

  /// Called for every bucket at the end of the step, with the arguments of reduce(), when the Work that reduce()
  /// returned is finished. The default does nothing.
  virtual void finish(const Bucket& /*bucket*/, const at::Tensor& /*gradients*/) {}

  /// Called at the end of a step, after finish() for every bucket. A derived class waits here for reductions that the
  /// Work returned by reduce() does not cover. The default does nothing.
  virtual void complete_reduction() {}

  /// Makes progress with the communication between ranks. Called whenever the last backward pass of a step has finished
  /// a gradient. A derived class that exchanges data through groups of its own overrides this function.
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

/// The setting `bucket_mb`, which several strategies declare by having a member of this type. Its value determines
/// ReplicaStrategy::bucket_bytes().
class BucketSize {
 public:
  explicit BucketSize(Configurable& owner)
      : megabytes_{owner, "bucket_mb", 25,
                   "size of a bucket of gradients, reduced together; the first is full at 1; 0 = one bucket",
                   at_least(0) | in_unit("MiB")} {}

  std::uint64_t bytes() const { return static_cast<std::uint64_t>(*megabytes_ * (1 << 20)); }

 private:
  Parameter<double> megabytes_;
};

}  // namespace trainyard
