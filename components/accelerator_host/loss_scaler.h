// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/state/state.h"

namespace trainyard {

/// The settings of loss scaling, which 16-mixed uses.
struct LossScaling {
  double initial = 65536;             ///< The scale of the first step; > 0.
  std::uint64_t growth_steps = 2000;  ///< The number of good steps in a row after which the scale doubles.
};

/// The loss scale of a run. It stays close to the largest factor at which gradients still fit into float16. As in
/// torch.cuda.amp.GradScaler, a step whose gradients overflow is skipped and halves the scale, and `growth_steps` good
/// steps in a row double the scale.
class LossScaler final : public Stateful {
 public:
  static constexpr double kGrowth = 2;
  static constexpr double kBackoff = 0.5;
  /// The smallest scale. If gradients overflow even at this scale, the range of float16 is not the cause.
  static constexpr double kSmallest = 0x1p-14;

  explicit LossScaler(const LossScaling& scaling) : scale_(scaling.initial), growth_steps_(scaling.growth_steps) {}

  double scale() const { return scale_; }
  std::uint64_t skipped() const { return skipped_; }

  /// Records whether the gradients of a step were finite, and adjusts the scale. Throws kInvalidArgument if even the
  /// smallest scale was too large.
  void update(bool finite);

  /// The name of the state in checkpoints. The state is the same on all ranks, because they skip steps together. If
  /// ranks skip steps separately, the checkpoint contains the state of rank 0, and all ranks resume with it.
  static constexpr const char* kState = "loss_scale";

  void save_state(StateWriter& into) const override;
  /// Throws kCorrupt for impossible values. A value that is missing in the checkpoint stays as it is.
  void restore_state(const StateReader& from) override;

 private:
  double scale_;
  std::uint64_t growth_steps_;
  std::uint64_t good_steps_ = 0;  ///< The number of steps with finite gradients since the scale last changed.
  std::uint64_t skipped_ = 0;     ///< The number of skipped steps since the run began.
};

}  // namespace trainyard
