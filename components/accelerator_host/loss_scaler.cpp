// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/loss_scaler.h"

#include <cmath>

#include "messages/error.h"

namespace trainyard {
namespace {

constexpr const char* kScale = "loss_scale";
constexpr const char* kGoodSteps = "loss_scale_good_steps";
constexpr const char* kSkipped = "skipped_steps";

}  // namespace

void LossScaler::update(bool finite) {
  if (!finite) {
    ++skipped_;
    good_steps_ = 0;
    scale_ *= kBackoff;
    if (scale_ >= kSmallest) return;
    throw Error(Code::kInvalidArgument,
                "the gradients are not finite even at a loss scale of {}, after {} skipped steps; the loss itself "
                "overflows or is not a number",
                scale_ / kBackoff, skipped_);
  }
  if (++good_steps_ < growth_steps_) return;
  good_steps_ = 0;
  scale_ *= kGrowth;
}

std::vector<Scalar> LossScaler::state() const {
  return {{kScale, scale_}, {kGoodSteps, static_cast<double>(good_steps_)}, {kSkipped, static_cast<double>(skipped_)}};
}

void LossScaler::restore(const std::vector<Scalar>& state) {
  for (const Scalar& scalar : state) {
    const bool is_scale = scalar.name == kScale;
    if (!is_scale && scalar.name != kGoodSteps && scalar.name != kSkipped) continue;
    if (!std::isfinite(scalar.value) || scalar.value < 0 || (is_scale && scalar.value == 0)) {
      throw Error(Code::kCorrupt, "checkpoint: host_state: '{}' is {}; allowed: a finite number {} 0", scalar.name,
                  scalar.value, is_scale ? "greater than" : "of at least");
    }
    if (scalar.name == kScale) scale_ = scalar.value;
    if (scalar.name == kGoodSteps) good_steps_ = static_cast<std::uint64_t>(scalar.value);
    if (scalar.name == kSkipped) skipped_ = static_cast<std::uint64_t>(scalar.value);
  }
}

}  // namespace trainyard
