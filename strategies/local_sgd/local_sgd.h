// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strategies/local_steps.h"

namespace trainyard {

/// Local SGD: every rank makes its own steps with its own optimizer, and every few steps the parameters are replaced by
/// their mean over all ranks. The ranks exchange 1 / every_steps of the data that they exchange with ddp, and the
/// updates differ slightly from the updates of ddp.
///
/// The optimizer's state is not averaged: each rank keeps its own momentum, as in the literature.
///
/// Source: Stich, "Local SGD Converges Fast and Communicates Little" (2019).
class LocalSgd final : public LocalSteps {
 public:
  explicit LocalSgd(StrategyContext& context) : LocalSteps(context, 8) {}

 protected:
  void unite(ArenaEdit& edit) override { average(edit); }
};

}  // namespace trainyard
