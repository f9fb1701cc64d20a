// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <deque>
#include <vector>

#include "strategies/replica_strategy.h"

namespace trainyard {

/// Data parallel training over several hosts, each with several ranks. Gradients are first added up within every host.
/// Then the first ranks of all hosts add these sums, and each of them sends the mean over all ranks to the other ranks
/// of its host. So only one rank of each host takes part in the slow communication between hosts.
///
///     1.  rank 1 -> rank 0      rank 2 <- rank 3     the sums within each host
///     2.            rank 0 <--> rank 2               the means over all ranks
///     3.  rank 1 <- rank 0      rank 2 -> rank 3     the means for the other ranks
///
/// The first two stages of a reduction, within and between the hosts, run while the backward pass computes. The third
/// stage runs after the backward pass. The means are those of the strategy `ddp`, up to rounding.
///
/// Sources: the strategy DDP2 of PyTorch Lightning; Goyal et al., "Accurate, Large Minibatch SGD" (2017), section 4.
class Hierarchical final : public ReplicaStrategy {
 public:
  explicit Hierarchical(StrategyContext& context) : ReplicaStrategy(context) {}

 protected:
  std::uint64_t bucket_bytes() const override { return bucket_size_.bytes(); }
  void prepare_reduction() override;
  Work reduce(const Bucket& bucket, const at::Tensor& gradients) override;
  void progress() override;
  void complete_reduction() override;

 private:
  /// The state of the reduction of one bucket (a contiguous range of the gradients).
  struct Stages {
    at::Tensor gradients;
    at::Tensor host;  ///< `gradients` itself, or a copy in host memory if the gradients are on a device.
    Work inside, across, back;
    bool crossing = false;  ///< True when the second stage has begun.
  };

  std::vector<std::vector<std::uint32_t>> hosts() const;
  bool leads() const { return inside_.rank() == 0; }
  void cross(Stages& stages);
  void go_back(Stages& stages);

  BucketSize bucket_size_{*this};
  Parameter<std::int64_t> ranks_per_host_{
      *this, "ranks_per_host", 0, "neighbouring ranks to treat as one host; 0 = by the hosts they run on", at_least(0)};

  RankGroup inside_;              ///< The ranks of this host.
  RankGroup across_;              ///< The first ranks of all hosts; on every other rank, only the rank itself.
  std::deque<Stages> under_way_;  ///< The buckets of this step, in ascending order.
};

}  // namespace trainyard
