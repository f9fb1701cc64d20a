// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "strategies/rank_group.h"

namespace trainyard {

/// Sends gradients between ranks in 16 bits: they are rounded, added up, and widened. This halves the bytes, at the
/// cost of an error of half a unit in the last of 11 bits (float16) or 8 bits (bfloat16) at each of the two roundings.
///
/// The largest float16 number is 65504. Gradients are therefore divided by the number of ranks before they are added,
/// so that only the mean has to fit. A value that does not fit becomes infinite, which loss scaling notices. Below
/// 6e-5, float16 gradually loses bits.
class HalfGradients {
 public:
  /// `gradients` is the flat block. All ranks must construct theirs together. `type` is kHalf or kBFloat16.
  HalfGradients(RankGroup& ranks, const at::Tensor& gradients, at::ScalarType type);

  /// Starts to average a slice of the block over the ranks and returns at once. All ranks must pass the same slice.
  /// When the Work has been waited for, widen() writes the mean into the block.
  Work average(const at::Tensor& slice);
  void widen(const at::Tensor& slice) const;

 private:
  at::Tensor narrow_slice(const at::Tensor& slice) const;

  RankGroup& ranks_;
  std::int64_t begin_;  ///< Where the block begins in its storage, in elements.
  at::Tensor narrow_;   ///< The block in 16 bits, in memory of the collective.
};

}  // namespace trainyard
