#pragma once

#include "strategies/strategy.h"

namespace trainyard {

/// One rank on one device: nothing to agree upon, so nothing of what a strategy may do is done.
class SingleDevice final : public Strategy {
 public:
  explicit SingleDevice(StrategyContext& context) : Strategy(context) {}

  StrategyTraits traits() const override { return {.max_ranks = 1}; }
};

}  // namespace trainyard
