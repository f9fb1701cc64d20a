// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strategies/strategy.h"

namespace trainyard {

/// One rank on one device. It needs no communication, so it overrides no hooks.
class SingleDevice final : public Strategy {
 public:
  explicit SingleDevice(StrategyContext& context) : Strategy(context) {}

  StrategyTraits traits() const override { return {.max_ranks = 1}; }
};

}  // namespace trainyard
