#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "strategies/strategy.h"

namespace trainyard {

/// Data parallel over hosts of several ranks each: gradients are added up inside every host, then among the first ranks
/// of the hosts, whose result goes back to the others of the host. Between hosts, where the way is slow, only one rank
/// of each talks.
///
///     rank 0 \                      / rank 0
///     rank 1 -> rank 0 <--> rank 2 <- rank 2       the means of ddp, added up in another order
///               rank 1      rank 3 <- rank 3
///
/// The first two stages of a bucket run while backward does; the third one when it is through.
///
/// Source: what PyTorch Lightning had as DDP2; Goyal et al., "Accurate, Large Minibatch SGD" (2017), section 4.
class Hierarchical final : public Strategy {
 public:
  explicit Hierarchical(StrategyContext& context) : Strategy(context) {}

  void set_up(const Replica& replica) override;
  std::uint64_t bucket_bytes() const override { return static_cast<std::uint64_t>(*bucket_mb_ * (1 << 20)); }
  Pending reduce(const Bucket& bucket, at::Tensor gradients) override;
  void progress() override;
  void finish_gradients() override;

 private:
  /// A bucket that is being reduced.
  struct Stages {
    at::Tensor gradients;
    at::Tensor host;  ///< The same, or a copy in host memory.
    Work inside, across, back;
    bool crossing = false;  ///< The second stage has begun.
  };

  std::vector<std::vector<std::uint32_t>> hosts() const;
  bool leads() const { return inside_ == nullptr || inside_->rank() == 0; }
  void cross(Stages& stages);
  void go_back(Stages& stages);

  Parameter<double> bucket_mb_{*this, "bucket_mb", 25, "gradients reduced as one, after a first bucket of 1; 0 = all",
                               at_least(0) | in_unit("MiB")};
  Parameter<std::int64_t> ranks_per_host_{
      *this, "ranks_per_host", 0, "neighbouring ranks that are taken for a host; 0 = as they are placed", at_least(0)};

  std::unique_ptr<Collective> inside_;  ///< The ranks of this host; null if it has one.
  std::unique_ptr<Collective> across_;  ///< The first rank of every host; null on the others and if there is one host.
  std::deque<Stages> under_way_;        ///< Of this step, in the order of the buckets.
};

}  // namespace trainyard
