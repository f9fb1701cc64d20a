#pragma once

#include "strategies/strategy.h"

namespace trainyard {

/// One rank on one device. There is nobody to agree with, so it overrides nothing that a strategy may do.
class SingleDevice final : public Strategy {
 public:
  explicit SingleDevice(StrategyContext& context) : Strategy(context) {}

  StrategyTraits traits() const override { return {.max_ranks = 1}; }
};

}  // namespace trainyard
