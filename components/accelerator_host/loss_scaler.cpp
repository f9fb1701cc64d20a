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

void LossScaler::save_state(StateWriter& into) const {
  into.set(kScale, scale_);
  into.set(kGoodSteps, static_cast<double>(good_steps_));
  into.set(kSkipped, static_cast<double>(skipped_));
}

void LossScaler::restore_state(const StateReader& from) {
  const auto read = [&from](const char* name, double otherwise) {
    if (!from.has(name)) return otherwise;
    const double value = from.number(name);
    const bool is_scale = name == kScale;
    if (std::isfinite(value) && value >= 0 && !(is_scale && value == 0)) return value;
    throw Error(Code::kCorrupt, "checkpoint: the state of 'loss_scale': '{}' is {}; allowed: a finite number {} 0",
                name, value, is_scale ? "greater than" : "of at least");
  };
  scale_ = read(kScale, scale_);
  good_steps_ = static_cast<std::uint64_t>(read(kGoodSteps, static_cast<double>(good_steps_)));
  skipped_ = static_cast<std::uint64_t>(read(kSkipped, static_cast<double>(skipped_)));
}

}  // namespace trainyard
