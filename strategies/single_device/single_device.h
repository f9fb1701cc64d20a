// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strategies/strategy.h"

namespace trainyard {

/// The strategy for one rank. Nothing has to be exchanged, so all hooks keep their defaults.
class SingleDevice final : public Strategy {
 public:
  explicit SingleDevice(StrategyContext& context) : Strategy(context) {}

  StrategyTraits traits() const override { return {.max_ranks = 1}; }
};

}  // namespace trainyard
