// SPDX-License-Identifier: Apache-2.0
#include "tensors/norm.h"

#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>

namespace trainyard {
namespace {

TEST(NormTest, AgreesWithLibTorchInDoublePrecision) {
  for (const std::int64_t count : {1, 31, 32, 33, 4095, 4096, 4097, 100'003}) {
    const at::Tensor values = at::randn({count});
    const double expected = values.to(at::kDouble).norm().item<double>();
    EXPECT_NEAR(l2_norm(values), expected, 1e-6 * expected) << count;
    EXPECT_NEAR(l2_norm(values.to(at::kDouble)), expected, 1e-13 * expected) << count;
  }
}

TEST(NormTest, LosesAtMostTheLastDigitOverAMillionEqualNumbers) {
  EXPECT_NEAR(l2_norm(at::full({1 << 20}, 0.1F)), 1024 * static_cast<double>(0.1F), 1e-4);
}

TEST(NormTest, RoundsEverySquareSoThatAllProcessorsAgree) {
  // The square of the second value, 1 + 2^-11 + 2^-24, is rounded down to 1 + 2^-11, and then the sum is, too. A fused
  // multiply-add would round only once, and return 1 + 2^-11 + 2^-23.
  at::Tensor values = at::zeros({64});
  values[0] = std::ldexp(1.0, -12);
  values[32] = 1 + std::ldexp(1.0, -12);
  EXPECT_EQ(l2_norm(values), std::sqrt(1 + std::ldexp(1.0, -11)));
}

TEST(NormTest, NothingHasNormZeroAndInfinityStaysInfinite) {
  EXPECT_EQ(l2_norm(at::zeros({100})), 0);
  EXPECT_TRUE(std::isinf(l2_norm(at::full({40}, INFINITY))));
  EXPECT_TRUE(std::isnan(l2_norm(at::full({40}, NAN))));
}

TEST(NormTest, OtherTypesAndLayoutsGoToLibTorch) { EXPECT_NEAR(l2_norm(at::full({64}, 0.5, at::kBFloat16)), 4, 1e-2); }

}  // namespace
}  // namespace trainyard
