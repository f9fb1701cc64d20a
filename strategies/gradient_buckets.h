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

/// Divides a rank's gradients into buckets (contiguous ranges that the ranks reduce one at a time), and passes each
/// bucket to a callback as soon as the backward pass has computed all of its gradients, while the pass is still
/// running. Passing a bucket to the callback is called "reporting" below.
///
/// The first bucket is at the end of the gradients, because a backward pass computes the gradients of the last
/// parameters first. It is small, so that its reduction begins early (as in PyTorch's DistributedDataParallel, Li et
/// al. 2020). Buckets are always reported in ascending order, even if the backward pass finishes them in another order,
/// so that all ranks reduce the same bucket at the same time.
class GradientBuckets {
 public:
  /// The callback. It gets a bucket and the slice of the flat gradients that the bucket covers.
  using OnReady = std::function<void(const Bucket& bucket, at::Tensor gradients)>;

  /// Divides the gradients into buckets. A bucket is full when it has at least `bytes` bytes; the first bucket is full
  /// when it has at least `first_bytes` or `bytes` bytes, whichever is less. If `bytes` is 0, one bucket contains all
  /// gradients. A parameter is never divided between two buckets.
  ///
  /// `entries` contains the position of each of the `parameters` in the flat block, in the same order (more entries may
  /// follow). `gradients` is the flat block of all gradients, or a block of the same layout. `on_ready` is called for
  /// every bucket.
  GradientBuckets(const std::vector<NamedTensor>& parameters, const std::vector<ArenaEntry>& entries,
                  const at::Tensor& gradients, std::uint64_t first_bytes, std::uint64_t bytes, OnReady on_ready);
  ~GradientBuckets();
  GradientBuckets(const GradientBuckets&) = delete;
  GradientBuckets& operator=(const GradientBuckets&) = delete;

  const std::vector<Bucket>& buckets() const { return buckets_; }

  /// Makes the next backward pass report buckets; passes for which arm() is not called report none. Call it before the
  /// last backward pass of a step, because only this pass completes the gradients.
  void arm();

  /// Reports all buckets that have not been reported in this step, including those whose parameters got no gradient.
  /// Call this function after the last backward pass of the step, or instead of that pass if the rank has no samples
  /// for it.
  void flush();

  /// Called, unless empty, whenever the last backward pass of the step has finished a gradient, so that communication
  /// can make progress during the pass.
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
  std::vector<std::size_t> unfinished_;  ///< For each bucket: how many of its parameters have no gradient yet.
  std::size_t next_ = 0;                 ///< The bucket to be reported next.
  bool armed_ = false;
  std::vector<std::shared_ptr<void>> accumulators_;  ///< The autograd node of each parameter, which calls its Hook.
  /// A pointer to this object that all hooks share. The destructor sets it to null, because the hooks can outlive this
  /// object.
  std::shared_ptr<GradientBuckets*> self_;
};

}  // namespace trainyard
