// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "strategies/rank_group.h"

namespace trainyard {

/// Gradients that ranks send to each other in 16 bits, which halves the number of bytes. Every rank rounds its
/// gradients to 16 bits, the sum over the ranks is rounded once more, and the result is widened again. Each of the two
/// roundings causes an error of at most half a unit in the last of the 11 significant bits of float16, or of the 8 of
/// bfloat16.
///
/// The largest float16 number is 65504. Gradients are therefore divided by the number of ranks before they are added,
/// so that only the mean has to fit. A value that does not fit becomes infinite, which loss scaling detects. Float16
/// values below 6e-5 have fewer significant bits.
class HalfGradients {
 public:
  /// `gradients` is the flat gradient block of this rank, and `type` is the 16-bit type, kHalf or kBFloat16. The
  /// constructor allocates memory of the collective, so all ranks must construct such an object at the same point.
  HalfGradients(RankGroup& ranks, const at::Tensor& gradients, at::ScalarType type);

  /// Starts to average a slice of the gradient block over the ranks and returns immediately. All ranks must pass the
  /// same slice. After Work::wait() returns, the caller must call widen() for the slice; before that, the values in the
  /// slice are undefined.
  Work average(const at::Tensor& slice);
  /// Writes the mean of a slice, which average() has computed in 16 bits, into the gradient block.
  void widen(const at::Tensor& slice) const;

 private:
  at::Tensor narrow_slice(const at::Tensor& slice) const;

  RankGroup& ranks_;
  std::int64_t begin_;  ///< The offset of the block in its storage, in elements.
  at::Tensor narrow_;   ///< The block in 16 bits, in memory of the collective.
};

}  // namespace trainyard
