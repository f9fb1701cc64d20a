#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "strategies/strategy.h"

namespace trainyard {

/// Ranks that step alone: nothing is exchanged while gradients are computed, and every `every_steps` steps the ranks
/// become one again, in the way of the strategy (`unite`).
///
/// What others see of them in between is one model, too: an evaluation works on the mean of the ranks and leaves them
/// as they were; before a snapshot they unite, whatever the step is, since what a resumed run begins with is what this
/// one has to go on with.
class LocalSteps : public Strategy {
 public:
  LocalSteps(StrategyContext& context, std::int64_t every_steps)
      : Strategy(context),
        every_steps_{*this, "every_steps", every_steps, "steps that a rank makes alone before all become one",
                     at_least(1) | in_unit("steps")} {}

  StrategyTraits traits() const final { return {.gradients = GradientsOfRanks::kOwn}; }

 protected:
  /// Makes the parameters equal on all ranks, which have them of the same step.
  virtual void unite(ArenaEdit& edit) = 0;

  /// Parameters and floating-point buffers become the means over all ranks.
  void average(ArenaEdit& edit) const;

  void after_update(std::uint64_t step, ArenaEdit& edit) final;
  std::unique_ptr<Evaluation> make_evaluation(ArenaEdit& edit) final;
  void before_snapshot(ArenaEdit& edit) final { unite_if_apart(edit); }

 private:
  class OfTheMean;

  void unite_if_apart(ArenaEdit& edit);
  /// Everything that average() changes.
  std::vector<at::Tensor> averaged(ArenaEdit& edit) const;

  Parameter<std::int64_t> every_steps_;
  bool apart_ = false;  ///< There was an update since the ranks were one.
};

}  // namespace trainyard
