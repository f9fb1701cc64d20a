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

/// The limits to which gradients are clipped before the optimizer uses them; 0 means no limit.
struct Clipping {
  double norm = 0;
  double value = 0;
};

/// A step that must not be applied, because its gradients overflowed at the loss scale with which it was computed.
struct SkippedStep {
  double loss_scale = 1;       ///< The scale at which the gradients overflowed.
  double next_loss_scale = 1;  ///< The scale of the next step.
  std::uint64_t skipped = 0;   ///< The number of steps skipped since the run began.
};

/// How a step ended, which is the same on every rank.
struct StepResult {
  double scale = 1;  ///< The optimizer multiplies gradients by it: clipping, and the inverse of the loss scale.
  double norm = 0;   ///< The norm of all gradients, before clipping and without the loss scale; 0 if not computed.
  std::optional<SkippedStep> skipped;  ///< Set if there is no update to make; the gradients are discarded by then.
};

/// Determines the factors for the gradients of a step: by the loss scale while they are computed, and by its inverse
/// and the clipping of their norm when they are passed to the optimizer. Also decides whether a step is skipped.
class GradientScaling {
 public:
  struct Options {
    std::string where;        ///< The beginning of error messages.
    std::string accelerator;  ///< The name of the accelerator, for error messages.
    bool clipping_allowed = true;
    std::optional<LossScaling> loss;  ///< Empty if the loss is not scaled.
  };

  explicit GradientScaling(Options options);

  /// Returns the factor for gradients that have this weight in the step.
  double scaled(double weight) const { return scaler_ ? weight * scaler_->scale() : weight; }

  /// Ends the step of a strategy. Throws kUnsupported for clipping that the accelerator does not allow, and
  /// kInvalidArgument if even the smallest loss scale is too large.
  StepResult end_step(Strategy& strategy, const Clipping& clipping);

  /// Returns the loss scale and the skipped steps, for the training metrics.
  std::vector<Scalar> metrics() const;

  /// Returns what scales the loss, which has state; null if nothing does.
  LossScaler* loss_scaler() { return scaler_ ? &*scaler_ : nullptr; }

 private:
  void check_allowed(const Clipping& clipping) const;

  Options options_;
  std::optional<LossScaler> scaler_;
};

}  // namespace trainyard
