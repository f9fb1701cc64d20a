// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strategies/local_steps.h"

namespace trainyard {

/// Local SGD: every rank trains with its own optimizer, and after every `every_steps` steps, the parameters are
/// replaced with their mean over all ranks. The ranks exchange only 1 / every_steps of the data that they would
/// exchange with the strategy `ddp`. The result differs from that of `ddp`, because the ranks train independently
/// between exchanges.
///
/// As in the paper below, the state of the optimizers, such as momentum, is not averaged.
///
/// Source: Stich, "Local SGD Converges Fast and Communicates Little" (2019).
class LocalSgd final : public LocalSteps {
 public:
  explicit LocalSgd(StrategyContext& context) : LocalSteps(context, 8) {}

 protected:
  void unite(ArenaEdit& edit) override { average(edit); }
};

}  // namespace trainyard
