// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/gradient_scaling.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "messages/error.h"

namespace trainyard {
namespace {

constexpr const char* kSkippedSteps = "skipped_steps";
constexpr double kNormEpsilon = 1e-6;  ///< The same value as in torch.nn.utils.clip_grad_norm_.

}  // namespace

GradientScaling::GradientScaling(Options options) : options_(std::move(options)) {
  if (options_.loss) scaler_.emplace(*options_.loss);
}

/// The launcher has checked this before the run, but clipping can also be switched on during the run.
void GradientScaling::check_allowed(const Clipping& clipping) const {
  if (options_.clipping_allowed || (clipping.norm <= 0 && clipping.value <= 0)) return;
  throw Error(Code::kUnsupported,
              "{}: clip_norm = {} and clip_value = {} are not allowed with the accelerator '{}', rule "
              "gradient_clipping: none, that is 0",
              options_.where, clipping.norm, clipping.value, options_.accelerator);
}

/// Clips after the reduction, so that all ranks use the norm of the same, averaged gradients. The optimizer, which
/// reads every gradient anyway, multiplies by `scale`; until then, the block of gradients contains 1 / `scale` times
/// the gradients.
StepResult GradientScaling::end_step(Strategy& strategy, const Clipping& clipping) {
  check_allowed(clipping);
  const double scale = loss_scale();  // Read here, because LossScaler::update() may change it below.
  StepResult result{.scale = 1 / scale, .norm = 0, .skipped = {}};
  const StepSummary summary = strategy.end_step({.check_finite = scaler_ || options_.skips_not_finite,
                                                 .clip_value = clipping.value / result.scale,
                                                 .norm = clipping.norm > 0});
  if (scaler_) scaler_->update(summary.finite);
  if (!summary.finite) {
    strategy.drop_step();
    result.skipped = skip(scale);
    return result;
  }
  skipped_in_a_row_ = 0;
  if (clipping.norm > 0) {
    result.norm = summary.norm * result.scale;
    result.scale *= std::min(1.0, clipping.norm / (result.norm + kNormEpsilon));
  }
  return result;
}

SkippedStep GradientScaling::skip(double loss_scale) {
  if (scaler_) return {true, loss_scale, scaler_->scale(), scaler_->skipped()};
  ++skipped_;
  if (++skipped_in_a_row_ < kMostSkippedInARow) return {false, 1, 1, skipped_};
  throw Error(Code::kInvalidArgument, "{}: the gradients of {} steps in a row are not finite, and on_nan = 'skip'",
              options_.where, skipped_in_a_row_);
}

std::vector<Scalar> GradientScaling::metrics() const {
  if (scaler_) return {{"loss_scale", scaler_->scale()}, {kSkippedSteps, static_cast<double>(scaler_->skipped())}};
  if (skipped_ == 0) return {};
  return {{kSkippedSteps, static_cast<double>(skipped_)}};
}

}  // namespace trainyard
