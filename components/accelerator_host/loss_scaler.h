// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/state/state.h"

namespace trainyard {

/// The settings of loss scaling, which the precision `16-mixed` uses.
struct LossScaling {
  double initial = 65536;  ///< The loss scale of the first step; > 0.
  /// The number of steps in a row with finite gradients after which the scale doubles.
  std::uint64_t growth_steps = 2000;
};

/// Adapts the loss scale, the factor by which losses are multiplied so that small gradients do not vanish in float16.
/// As in torch.cuda.amp.GradScaler, a step whose gradients overflow is skipped and halves the scale, and `growth_steps`
/// steps in a row with finite gradients double it. So the scale stays close to the largest factor at which gradients
/// still fit into float16.
class LossScaler final : public Stateful {
 public:
  static constexpr double kGrowth = 2;
  static constexpr double kBackoff = 0.5;
  /// The smallest scale. If gradients overflow even at this scale, the cause is not the limited range of float16.
  static constexpr double kSmallest = 0x1p-14;

  explicit LossScaler(const LossScaling& scaling) : scale_(scaling.initial), growth_steps_(scaling.growth_steps) {}

  double scale() const { return scale_; }
  std::uint64_t skipped() const { return skipped_; }

  /// Call this function once for each step. `finite` is true if the gradients of the step were finite. Adjusts the
  /// scale. Throws kInvalidArgument if gradients overflow although the scale is already kSmallest.
  void update(bool finite);

  /// The name under which checkpoints store the state. A checkpoint contains the state of rank 0, and all ranks resume
  /// with it. If all ranks skip the same steps, as with most strategies, they have the same state anyway.
  static constexpr const char* kState = "loss_scale";

  void save_state(StateWriter& into) const override;
  /// Throws kCorrupt for impossible values. Values that the checkpoint does not contain stay unchanged.
  void restore_state(const StateReader& from) override;

 private:
  double scale_;
  std::uint64_t growth_steps_;
  std::uint64_t good_steps_ = 0;  ///< The number of steps with finite gradients since the scale last changed.
  std::uint64_t skipped_ = 0;     ///< The number of skipped steps since the run began.
};

}  // namespace trainyard
