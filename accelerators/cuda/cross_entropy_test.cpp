// SPDX-License-Identifier: Apache-2.0
#if TRAINYARD_CUDA_KERNELS  // Without nvcc there are no kernels; see CMakeLists.txt.

#include <ATen/TensorOperators.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <c10/cuda/CUDAFunctions.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tensors/fused/ops.h"

namespace trainyard {
namespace {

struct Case {
  const char* name;
  std::int64_t classes;
  at::ScalarType type;
  double tolerance;  ///< Of the gradient, relative to its largest value.
};

/// Compares the kernels with LibTorch's operations in double precision, on the same logits.
class CrossEntropyKernelTest : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (c10::cuda::device_count() == 0) GTEST_SKIP() << "skipped: no device";
  }
};

TEST_P(CrossEntropyKernelTest, HasTheLossAndTheGradientOfDoublePrecision) {
  constexpr std::int64_t kRows = 37;
  const auto [name, classes, type, tolerance] = GetParam();
  at::Tensor logits = (at::randn({kRows, classes}) * 5).to(at::kCUDA).to(type).set_requires_grad(true);
  const at::Tensor target = at::randint(classes, {kRows}, at::kLong).to(at::kCUDA);
  const at::Tensor loss = fused::cross_entropy(logits, target);
  loss.backward(at::full({}, 0.25, loss.options()));

  at::Tensor exact = logits.detach().to(at::kDouble).set_requires_grad(true);
  const at::Tensor expected = at::cross_entropy_loss(exact, target);
  expected.backward(at::full({}, 0.25, expected.options()));
  EXPECT_EQ(loss.scalar_type(), at::kFloat);
  EXPECT_NEAR(loss.item<double>(), expected.item<double>(), 1e-6 * expected.item<double>());
  const double largest = exact.grad().abs().max().item<double>();
  EXPECT_LE((logits.grad().to(at::kDouble) - exact.grad()).abs().max().item<double>(), tolerance * largest);
}

INSTANTIATE_TEST_SUITE_P(Types, CrossEntropyKernelTest,
                         ::testing::Values(Case{"float32", 50304, at::kFloat, 1e-5},
                                           Case{"float32_odd", 65, at::kFloat, 1e-5},
                                           Case{"bfloat16", 50304, at::kBFloat16, 4e-3},
                                           Case{"bfloat16_odd", 1003, at::kBFloat16, 4e-3},
                                           Case{"float16", 4096, at::kHalf, 5e-4}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(CrossEntropyKernelClassTest, AClassThatDoesNotExistMakesTheLossNaN) {
  if (c10::cuda::device_count() == 0) GTEST_SKIP() << "skipped: no device";
  const at::Tensor logits = at::randn({2, 8}).to(at::kCUDA);
  const at::Tensor target = at::full({2}, 8, at::kLong).to(at::kCUDA);
  EXPECT_TRUE(std::isnan(fused::cross_entropy(logits, target).item<double>()));
}

}  // namespace
}  // namespace trainyard

#endif
