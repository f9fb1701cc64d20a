#pragma once

#include <ATen/core/Tensor.h>

#include "strategies/rank_group.h"

namespace trainyard {

/// Lets gradients travel between ranks in 16 bits: rounded, added up, widened. Half the bytes, for an error of half a
/// unit in the last of 11 bits (float16) or 8 (bfloat16) at each of the two roundings.
///
/// float16 ends at 65504: gradients are divided by the number of ranks before they are added, so that the mean is what
/// has to fit; what does not becomes infinite, which loss scaling notices. Below 6e-5 it loses bits one after the
/// other.
class HalfGradients {
 public:
  /// `gradients`: the flat block. Every rank makes its own at the same time. `type`: kHalf or kBFloat16.
  HalfGradients(RankGroup& ranks, const at::Tensor& gradients, at::ScalarType type);

  /// Starts to average a slice of the block and returns at once; the same slice on all ranks. When that has been waited
  /// for, widen() puts the mean into the block.
  Work average(const at::Tensor& slice);
  void widen(const at::Tensor& slice) const;

 private:
  at::Tensor narrow_slice(const at::Tensor& slice) const;

  RankGroup& ranks_;
  std::int64_t begin_;  ///< Of the block in its storage, in elements.
  at::Tensor narrow_;   ///< As long as the block, in memory of the collective.
};

}  // namespace trainyard
