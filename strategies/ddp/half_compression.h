// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strategies/ddp/compression.h"
#include "strategies/half_gradients.h"

namespace trainyard::ddp {

/// Sends gradients rounded to float16 or bfloat16.
class HalfCompression final : public Compression {
 public:
  HalfCompression(RankGroup& ranks, const at::Tensor& gradients, at::ScalarType type) : half_(ranks, gradients, type) {}

  Work reduce(const Bucket&, const at::Tensor& gradients, double) override { return half_.average(gradients); }
  void finish(const Bucket&, const at::Tensor& gradients, double) override { half_.widen(gradients); }

 private:
  HalfGradients half_;
};

}  // namespace trainyard::ddp
