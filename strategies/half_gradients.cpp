// SPDX-License-Identifier: Apache-2.0
#include "strategies/half_gradients.h"

namespace trainyard {

HalfGradients::HalfGradients(RankGroup& ranks, const at::Tensor& gradients, at::ScalarType type)
    : ranks_(ranks),
      begin_(gradients.storage_offset()),
      narrow_(ranks.scratch(gradients.numel(), at::TensorOptions().dtype(type))) {}

at::Tensor HalfGradients::narrow_slice(const at::Tensor& slice) const {
  return narrow_.narrow(0, slice.storage_offset() - begin_, slice.numel());
}

Work HalfGradients::average(const at::Tensor& slice) {
  const at::Tensor narrow = narrow_slice(slice);
  ranks_.copy(at::Tensor(slice).div_(static_cast<double>(ranks_.size())), narrow);
  return ranks_.all_reduce(narrow, ReduceOp::kSum);
}

void HalfGradients::widen(const at::Tensor& slice) const { ranks_.copy(narrow_slice(slice), slice); }

}  // namespace trainyard
