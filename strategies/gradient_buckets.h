// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "messages/arena.h"
#include "strategies/replica_strategy.h"
#include "tensors/named_tensor.h"

namespace trainyard {

/// The buckets of a rank's gradients. Each bucket is reported, that is, passed to a callback, as soon as the backward
/// pass has finished it, while the pass is still running.
///
/// Buckets are filled from the end of the arena, because backward finishes the last parameters first. The first bucket
/// is small, so that its reduction begins early (as in PyTorch's DistributedDataParallel, Li et al. 2020). Buckets are
/// reported in ascending order, even if backward finishes them in another order, so that all ranks reduce the same
/// bucket at the same time.
class GradientBuckets {
 public:
  /// A callback that receives a bucket and its slice of the gradients.
  using OnReady = std::function<void(const Bucket& bucket, at::Tensor gradients)>;

  /// Divides the gradients into buckets. A bucket is full when it has at least `bytes` bytes; the first bucket is full
  /// when it has at least `first_bytes` or `bytes` bytes, whichever is less. If `bytes` is 0, one bucket contains all
  /// gradients. A parameter is never divided between two buckets.
  ///
  /// `entries` begins with the entries of `parameters`, in the same order. `gradients` is the flat gradient block or a
  /// block of the same layout. Every report is a call of `on_ready`.
  GradientBuckets(const std::vector<NamedTensor>& parameters, const std::vector<ArenaEntry>& entries,
                  const at::Tensor& gradients, std::uint64_t first_bytes, std::uint64_t bytes, OnReady on_ready);
  ~GradientBuckets();
  GradientBuckets(const GradientBuckets&) = delete;
  GradientBuckets& operator=(const GradientBuckets&) = delete;

  const std::vector<Bucket>& buckets() const { return buckets_; }

  /// Makes the next backward pass report buckets. That pass must be the pass that completes the gradients of the step.
  /// All other passes report no buckets.
  void arm();

  /// Reports all remaining buckets, including those whose parameters had no gradient. Called after the armed pass, or
  /// instead of it if the rank has no samples for the last micro-batch.
  void flush();

  /// A callback that is called whenever the armed backward pass has finished a gradient, so that communication can make
  /// progress. The callback may be empty.
  std::function<void()> on_progress;

 private:
  class Hook;

  void cut(const std::vector<ArenaEntry>& entries, std::size_t parameters, std::uint64_t first_bytes,
           std::uint64_t bytes);
  void finished(std::size_t parameter);
  void tell(std::size_t bucket);

  at::Tensor gradients_;
  OnReady on_ready_;
  std::vector<Bucket> buckets_;
  std::vector<std::size_t> bucket_of_;   ///< The bucket of each parameter.
  std::vector<std::size_t> sizes_;       ///< The number of parameters in each bucket.
  std::vector<std::size_t> unfinished_;  ///< The number of parameters in each bucket that have no gradient yet.
  std::size_t next_ = 0;                 ///< The bucket to be reported next.
  bool armed_ = false;
  std::vector<std::shared_ptr<void>> accumulators_;  ///< The nodes of autograd to which the hooks are attached.
  /// A pointer to this object that the hooks share. It is null for hooks that outlive this object.
  std::shared_ptr<GradientBuckets*> self_;
};

}  // namespace trainyard
