#pragma once

#include "strategies/strategy.h"

namespace trainyard {

/// One rank on one device: nothing to agree upon, so every call returns at once and changes nothing.
class SingleDevice final : public Strategy {
 public:
  explicit SingleDevice(StrategyContext& context) : Strategy(context) {}

  /// Throws kUnsupported for more than one rank, naming the strategy that serves them.
  void check_world_size(std::uint32_t world_size) const override;

  void start(at::Tensor) override {}
  Pending reduce(const Bucket&, at::Tensor) override { return {}; }
  void all_reduce_metrics(at::Tensor) override {}
};

}  // namespace trainyard
