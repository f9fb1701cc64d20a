// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "strategies/strategy.h"

namespace trainyard {

/// The base class of strategies whose ranks train independently and exchange no gradients. After every `every_steps`
/// steps, the strategy makes the parameters of all ranks equal again (unite()).
///
/// Between two calls of unite(), the ranks have different parameters. An evaluation therefore uses the mean of the
/// ranks' parameters, and afterwards restores each rank's own values. unite() is also called before every checkpoint,
/// so that a run that resumes from the checkpoint gets the same results as this run.
///
/// A strategy whose exchange overlaps with further steps overrides exchange() and go_on(). unite() is then called only
/// before checkpoints.
class LocalSteps : public Strategy {
 public:
  /// `every_steps` is the default value of the parameter `every_steps`.
  LocalSteps(StrategyContext& context, std::int64_t every_steps)
      : Strategy(context),
        every_steps_{*this, "every_steps", every_steps, "steps that each rank makes alone between two exchanges",
                     at_least(1) | in_unit("steps")} {}

  StrategyTraits traits() const final { return {.gradients = GradientsOfRanks::kOwn}; }

 protected:
  /// Makes the parameters of all ranks equal, by changing them through `edit`. Called on all ranks after the same step,
  /// and only if there has been an update since the last call.
  virtual void unite(ArenaEdit& edit) = 0;

  /// Makes the exchange that follows every `every_steps`-th step. The default calls unite(). Called on all ranks after
  /// the update of step `step`.
  virtual void exchange(std::uint64_t step, ArenaEdit& edit);

  /// Continues an exchange that overlaps with further steps. Called after every update, before exchange(). The default
  /// does nothing.
  virtual void go_on(std::uint64_t /*step*/, ArenaEdit& /*edit*/) {}

  std::int64_t every_steps() const { return *every_steps_; }

  /// Replaces all parameters and floating-point buffers with their means over all ranks.
  void average(ArenaEdit& edit) const;
  /// Replaces the values of `tensors` with their means over all ranks.
  void average(const std::vector<at::Tensor>& tensors) const;
  /// Returns flat views of the floating-point buffers of the model.
  std::vector<at::Tensor> floating_buffers() const;

  void after_update(std::uint64_t step, ArenaEdit& edit) final;
  std::unique_ptr<Evaluation> make_evaluation(ArenaEdit& edit) final;
  void before_snapshot(ArenaEdit& edit) final { unite_if_apart(edit); }

 private:
  class OfTheMean;

  void unite_if_apart(ArenaEdit& edit);
  /// Returns the tensors that average() changes: the block of parameters, and the floating-point buffers.
  std::vector<at::Tensor> averaged(ArenaEdit& edit) const;

  Parameter<std::int64_t> every_steps_;
  /// True if there has been an update since the last unite(), so that the parameters of the ranks differ.
  bool apart_ = false;
};

}  // namespace trainyard
