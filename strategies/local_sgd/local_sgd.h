#pragma once

#include "strategies/local_steps.h"

namespace trainyard {

/// Local SGD: every rank makes its own steps with its own optimizer; every few steps parameters are replaced by their
/// mean over all ranks. Exchanges 1 / every_steps of what ddp does, for updates that are not quite the same.
///
/// The optimizer's state stays with its rank: momentum is local, as in the literature.
///
/// Source: Stich, "Local SGD Converges Fast and Communicates Little" (2019).
class LocalSgd final : public LocalSteps {
 public:
  explicit LocalSgd(StrategyContext& context) : LocalSteps(context, 8) {}

 protected:
  void unite(ArenaEdit& edit) override { average(edit); }
};

}  // namespace trainyard
