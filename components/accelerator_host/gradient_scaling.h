// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "components/accelerator_host/loss_scaler.h"
#include "messages/scalar.h"
#include "strategies/strategy.h"

namespace trainyard {

/// The limits to which gradients are clipped before the optimizer uses them: `norm` for the L2 norm of all gradients,
/// `value` for the absolute value of each element. 0 means no limit.
struct Clipping {
  double norm = 0;
  double value = 0;
};

/// Describes a step that is skipped because its gradients are not finite.
struct SkippedStep {
  bool overflow = false;       ///< True if the loss is scaled; the likely cause is then an overflow.
  double loss_scale = 1;       ///< The loss scale of this step; 1 if the loss is not scaled.
  double next_loss_scale = 1;  ///< The loss scale of the next step.
  std::uint64_t skipped = 0;   ///< The number of steps skipped since the run began, including this one.
};

/// The result of GradientScaling::end_step(). It is the same on every rank, unless the strategy lets each rank use its
/// own gradients (GradientsOfRanks).
struct StepResult {
  /// The factor by which the optimizer multiplies the gradients, in order to clip them and to undo the loss scale.
  double scale = 1;
  /// The L2 norm of all gradients before their norm is clipped, without the loss scale; 0 if it was not computed.
  double norm = 0;
  std::optional<SkippedStep> skipped;  ///< Set if the step is skipped. Its gradients have then already been discarded.
};

/// Determines the factors by which a rank's gradients are multiplied, and whether a step is skipped. While gradients
/// are computed, the factor is the loss scale. In the optimizer, it is the inverse of the loss scale, times the factor
/// that clips the norm.
class GradientScaling {
 public:
  struct Options {
    std::string where;        ///< The prefix of error messages.
    std::string accelerator;  ///< The name of the accelerator, for error messages.
    /// False if the accelerator does not allow clipping.
    bool clipping_allowed = true;
    std::optional<LossScaling> loss;  ///< Empty if the loss is not scaled.
    /// True to skip steps whose gradients are not finite, even if the loss is not scaled.
    bool skips_not_finite = false;
  };

  explicit GradientScaling(Options options);

  /// Returns `weight`, the weight of a micro-batch in its step, times the loss scale.
  double scaled(double weight) const { return weight * loss_scale(); }

  /// Returns the loss scale; 1 if the loss is not scaled.
  double loss_scale() const { return scaler_ ? scaler_->scale() : 1; }

  /// Call this function after the last micro-batch of a step. Lets `strategy` complete the gradients and clip their
  /// values, and returns the factor for the optimizer. If a gradient is not finite, discards the gradients and skips
  /// the step. Throws kUnsupported if `clipping` has a limit but the accelerator does not allow clipping. Throws
  /// kInvalidArgument if gradients overflow even at the smallest loss scale, or if too many steps in a row are skipped.
  StepResult end_step(Strategy& strategy, const Clipping& clipping);

  /// Returns values for the training metrics: the loss scale, if the loss is scaled, and the number of skipped steps.
  /// The list is empty if the loss is not scaled and no step was skipped.
  std::vector<Scalar> metrics() const;

  /// Returns the loss scaler, whose state is saved in checkpoints; null if the loss is not scaled.
  LossScaler* loss_scaler() { return scaler_ ? &*scaler_ : nullptr; }

  /// Returns the number of steps skipped since the run began.
  std::uint64_t skipped_steps() const { return scaler_ ? scaler_->skipped() : skipped_; }
  /// Sets the number of skipped steps to `skipped`, the number in the checkpoint from which the run resumes. Not needed
  /// if the loss is scaled, because the loss scaler then restores the number.
  void restore_skipped_steps(std::uint64_t skipped) { skipped_ = skipped; }

 private:
  /// If this many steps in a row are skipped, the run ends with an error.
  static constexpr std::uint64_t kMostSkippedInARow = 100;

  void check_allowed(const Clipping& clipping) const;
  SkippedStep skip(double loss_scale);

  Options options_;
  std::optional<LossScaler> scaler_;
  std::uint64_t skipped_ = 0;  ///< The steps skipped since the run began; used only if the loss is not scaled.
  /// The steps skipped since the last step that was not skipped; used only if the loss is not scaled.
  std::uint64_t skipped_in_a_row_ = 0;
};

}  // namespace trainyard
