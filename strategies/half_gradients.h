// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "strategies/rank_group.h"

namespace trainyard {

/// Averages gradients over the ranks in 16 bits, which halves the number of bytes that ranks send to each other. Every
/// rank rounds its gradients to 16 bits, the sum over the ranks is rounded once more, and the result is converted back.
/// Each of the two roundings causes a relative error of at most 2^-11 with float16, or 2^-8 with bfloat16.
///
/// The largest float16 number is 65504. Gradients are therefore divided by the number of ranks before they are added,
/// so that only the mean has to stay below this limit. A mean that exceeds it becomes infinite, and a run with loss
/// scaling then skips the step. Float16 values closer to 0 than 6e-5 have fewer significant bits.
class HalfGradients {
 public:
  /// `gradients` is the flat block of all gradients of this rank, and `type` is the 16-bit type, kHalf or kBFloat16.
  /// The constructor allocates memory with RankGroup::scratch(), so all ranks must construct such objects with the same
  /// sizes in the same order.
  HalfGradients(RankGroup& ranks, const at::Tensor& gradients, at::ScalarType type);

  /// Starts to average a slice of the gradient block over the ranks and returns immediately. All ranks must pass the
  /// same slice. When Work::wait() has returned, the caller must call widen(), which writes the mean into the slice;
  /// until then, the values in the slice are undefined.
  Work average(const at::Tensor& slice);
  /// Converts the mean that average() has computed in 16 bits, and writes it into the slice of the gradient block.
  void widen(const at::Tensor& slice) const;

 private:
  at::Tensor narrow_slice(const at::Tensor& slice) const;

  RankGroup& ranks_;
  std::int64_t begin_;  ///< The storage offset of the gradient block, in elements.
  at::Tensor narrow_;   ///< The whole block in 16 bits, in memory on which the collective works without a copy.
};

}  // namespace trainyard
