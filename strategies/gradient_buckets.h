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

/// Cuts the gradients of a rank into buckets and reports when backward has finished each, while backward still runs.
///
/// Buckets are filled from the end of the arena, since backward finishes the last parameters first. The first one is
/// small, so that reducing begins early (as in PyTorch's DistributedDataParallel, Li et al. 2020). Buckets are reported
/// in their order, whatever order backward takes, so that all ranks reduce the same bucket at the same time.
class GradientBuckets {
 public:
  using OnReady = std::function<void(const Bucket& bucket, at::Tensor gradients)>;

  /// The first bucket holds at least `first_bytes`, the others `bytes` (0 means one bucket for everything); a parameter
  /// is never cut. `entries` begins with those of `parameters`. `gradients` is the flat block.
  GradientBuckets(const std::vector<NamedTensor>& parameters, const std::vector<ArenaEntry>& entries,
                  const at::Tensor& gradients, std::uint64_t first_bytes, std::uint64_t bytes, OnReady on_ready);
  ~GradientBuckets();
  GradientBuckets(const GradientBuckets&) = delete;
  GradientBuckets& operator=(const GradientBuckets&) = delete;

  const std::vector<Bucket>& buckets() const { return buckets_; }

  /// Announces that the next backward pass is the last one of the step.
  void arm();

  /// Reports all remaining buckets, including those whose parameters had no gradient. Called after the step's backward
  /// passes.
  void flush();

  /// Called for every gradient that is finished while armed, which is the moment to let communication make progress.
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
  std::vector<std::size_t> bucket_of_;   ///< Indexed by parameter.
  std::vector<std::size_t> sizes_;       ///< The number of parameters in each bucket ...
  std::vector<std::size_t> unfinished_;  ///< ... and how many of them have no gradient yet in this pass.
  std::size_t next_ = 0;                 ///< The bucket to be reported next.
  bool armed_ = false;
  std::vector<std::shared_ptr<void>> accumulators_;  ///< Autograd's nodes, which the hooks live on.
  std::shared_ptr<GradientBuckets*> self_;           ///< Null in hooks that outlive this object.
};

}  // namespace trainyard
