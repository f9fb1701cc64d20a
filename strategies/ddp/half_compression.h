#pragma once

#include "strategies/ddp/compression.h"
#include "strategies/half_gradients.h"

namespace trainyard {

/// Gradients travel as float16 or bfloat16.
class HalfCompression final : public Compression {
 public:
  HalfCompression(Collective& world, const at::Tensor& gradients, at::ScalarType type)
      : half_(world, gradients, type) {}

  Pending reduce(const Bucket&, at::Tensor gradients) override { return half_.average(std::move(gradients)); }

 private:
  HalfGradients half_;
};

}  // namespace trainyard
