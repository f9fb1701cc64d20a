// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/state/state.h"

namespace trainyard {

/// How the loss is scaled in 16-mixed.
struct LossScaling {
  double initial = 65536;             ///< The scale of the first step; > 0.
  std::uint64_t growth_steps = 2000;  ///< The number of good steps in a row after which the scale doubles.
};

/// Finds the largest factor for the loss at which gradients still fit into float16, as torch.cuda.amp.GradScaler does:
/// a step whose gradients overflow is skipped and halves the scale, and `growth_steps` good ones in a row double it.
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

  /// Under this name checkpoints keep the state. It is the same on all ranks, because they skip steps together; where
  /// they do not, all go on with that of rank 0.
  static constexpr const char* kState = "loss_scale";

  void save_state(StateWriter& into) const override;
  /// Throws kCorrupt for values that make no sense. Values that are missing stay as they are.
  void restore_state(const StateReader& from) override;

 private:
  double scale_;
  std::uint64_t growth_steps_;
  std::uint64_t good_steps_ = 0;  ///< Counted since the scale last changed.
  std::uint64_t skipped_ = 0;     ///< Counted since the run began.
};

}  // namespace trainyard
