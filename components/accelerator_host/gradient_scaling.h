#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "components/accelerator_host/loss_scaler.h"
#include "messages/scalar.h"
#include "strategies/strategy.h"

namespace trainyard {

/// How gradients are bounded before the optimizer sees them; 0 = not.
struct Clipping {
  double norm = 0;
  double value = 0;
};

/// A step that nobody may apply, because its gradients overflowed at the loss scale that it was computed with.
struct SkippedStep {
  double loss_scale = 1;       ///< The one at which gradients overflowed.
  double next_loss_scale = 1;  ///< The one of the next step.
  std::uint64_t skipped = 0;   ///< Steps that were skipped since the run began.
};

/// How a step ended: the same on every rank.
struct StepResult {
  double scale = 1;  ///< The optimizer multiplies gradients by it: clipping, and the inverse of the loss scale.
  double norm = 0;   ///< Of all gradients, before clipping and without the loss scale; 0 = not computed.
  std::optional<SkippedStep> skipped;  ///< Set if there is no update to make; the gradients are forgotten already.
};

/// What multiplies the gradients of a step: the loss scale while they are computed, its inverse and the clipping of
/// their norm when they are given to the optimizer. Decides whether a step is skipped.
class GradientScaling {
 public:
  struct Options {
    std::string where;        ///< For errors.
    std::string accelerator;  ///< The same.
    bool clipping_allowed = true;
    std::optional<LossScaling> loss;  ///< None: the loss is not scaled.
  };

  explicit GradientScaling(Options options);

  /// What gradients of this weight in the step are multiplied by.
  double scaled(double weight) const { return scaler_ ? weight * scaler_->scale() : weight; }

  /// Ends the step of a strategy. Throws kUnsupported for clipping that the accelerator does not allow, and
  /// kInvalidArgument if no loss scale is small enough.
  StepResult end_step(Strategy& strategy, const Clipping& clipping);

  /// For the training metrics.
  std::vector<Scalar> metrics() const;

  /// What a checkpoint keeps; and its inverse, which leaves out what is missing.
  std::vector<Scalar> state() const { return scaler_ ? scaler_->state() : std::vector<Scalar>{}; }
  void restore(const std::vector<Scalar>& state);

 private:
  void check_allowed(const Clipping& clipping) const;

  Options options_;
  std::optional<LossScaler> scaler_;
};

}  // namespace trainyard
