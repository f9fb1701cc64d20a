#pragma once

#include "strategies/strategy.h"

namespace trainyard {

/// Distributed data parallel: every rank has the whole model and a part of the data; gradients are averaged, in
/// buckets, while backward still runs, so all ranks make the same update.
///
/// Source: Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel Training" (2020).
class Ddp final : public Strategy {
 public:
  explicit Ddp(StrategyContext& context) : Strategy(context) {}

  std::uint64_t bucket_bytes() const override { return static_cast<std::uint64_t>(*bucket_mb_ * (1 << 20)); }
  Pending reduce(const Bucket& bucket, at::Tensor gradients) override;

 private:
  Parameter<double> bucket_mb_{*this, "bucket_mb", 25, "gradients reduced as one, after a first bucket of 1; 0 = all",
                               at_least(0) | in_unit("MiB")};
};

}  // namespace trainyard
