#pragma once

#include <optional>
#include <vector>

#include "strategies/replica_strategy.h"
#include "strategies/sharded_update.h"

namespace trainyard {

/// ZeRO, stage 1: the optimizer's state is shared out. Every rank has the whole model and a part of the data, as with
/// ddp; but of the averaged gradients it gets its part alone, and updates that. The same numbers as with ddp, bit for
/// bit, for the same traffic and 1/N of the optimizer's memory and work.
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
  std::optional<ShardedUpdate> sharded_;  ///< From the start on.
  bool told_ = false;                     ///< What is held has been logged.
};

}  // namespace trainyard
