// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "strategies/replica_strategy.h"
#include "strategies/sharded_update.h"

namespace trainyard {

/// ZeRO, stage 1: the ranks divide the optimizer's state among themselves. As with the strategy `ddp`, every rank has
/// the whole model and a part of the data. But each rank receives only one part of the averaged gradients, updates only
/// this part of the parameters, and then gets the other parts from the other ranks. The results are bit-identical to
/// those of `ddp`. The ranks exchange as much data as with `ddp`, and with N ranks each optimizer needs 1/N of the
/// memory and time.
///
/// Source: Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models" (2020).
class Zero1 final : public ReplicaStrategy {
 public:
  explicit Zero1(StrategyContext& context) : ReplicaStrategy(context) {}

  StrategyTraits traits() const override { return {.gradients = GradientsOfRanks::kParts}; }
  ArenaShard shard(const ArenaLayout& layout) const override;
  std::vector<Scalar> stats() const override;

 protected:
  void synchronise(ArenaEdit& edit) override;
  std::uint64_t bucket_bytes() const override { return bucket_size_.bytes(); }
  Work reduce(const Bucket& bucket, const at::Tensor& gradients) override;
  void after_update(std::uint64_t step, ArenaEdit& edit) override;

 private:
  BucketSize bucket_size_{*this};
  std::optional<ShardedUpdate> sharded_;  ///< Set by synchronise().
  bool told_ = false;                     ///< True once the memory use has been logged.
};

}  // namespace trainyard
