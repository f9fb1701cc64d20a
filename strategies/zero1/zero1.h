#pragma once

#include "strategies/sharded_update.h"

namespace trainyard {

/// ZeRO, stage 1: the optimizer's state is shared out. Every rank has the whole model and a part of the data, as with
/// ddp; but of the averaged gradients it gets its part alone, and updates that. The same numbers as with ddp, bit for
/// bit, for the same traffic and 1/N of the optimizer's memory and work.
///
/// Source: Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models" (2020).
class Zero1 final : public ShardedUpdate {
 public:
  explicit Zero1(StrategyContext& context) : ShardedUpdate(context) {}

  std::uint64_t bucket_bytes() const override { return static_cast<std::uint64_t>(*bucket_mb_ * (1 << 20)); }
  Pending reduce(const Bucket& bucket, at::Tensor gradients) override;
  void end_update(std::uint64_t step) override;

 private:
  Parameter<double> bucket_mb_{*this, "bucket_mb", 25, "gradients reduced as one, after a first bucket of 1; 0 = all",
                               at_least(0) | in_unit("MiB")};
};

}  // namespace trainyard
