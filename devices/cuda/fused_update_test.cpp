// SPDX-License-Identifier: Apache-2.0
#if TRAINYARD_CUDA_KERNELS  // Without nvcc there are no kernels; see CMakeLists.txt.
#include "accelerators/cuda/fused_update.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <c10/cuda/CUDAFunctions.h>
#include <gtest/gtest.h>

#include <vector>

namespace trainyard {
namespace {

using devices::Coefficients;
using devices::Formula;
using devices::states_of;

constexpr std::int64_t kCount = 100'003;  ///< Several chunks, and a rest that fills no pack.

Coefficients<double> coefficients(double step_size, double weight_decay) {
  return {.gradient_scale = 0.5,
          .weight_decay = weight_decay,
          .keep = 0.999,
          .step_size = step_size,
          .decay1 = 0.9,
          .gain1 = 0.1,
          .decay2 = 0.99,
          .gain2 = 0.01,
          .root_scale = 1.7,
          .eps = 1e-8,
          .root_divisor = 0.6};
}

class FusedUpdateTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    if (c10::cuda::device_count() == 0) GTEST_SKIP() << "skipped: no device";
  }

  static UpdateBlocks values(Formula formula, at::ScalarType type) {
    UpdateBlocks blocks{at::randn({kCount}).to(type), at::randn({kCount}).to(type), {}};
    for (std::size_t i = 0; i < states_of(formula); ++i) {
      // The first state is the mean of squares in some rules, and the second one the mean, whose square is smaller.
      const at::Tensor magnitude = at::randn({kCount}).abs().clamp_max(1.5);
      blocks.state.push_back((i == 0 ? magnitude + 4 : magnitude).to(update_state_type(type)));
    }
    return blocks;
  }

  static UpdateBlocks on_gpu(const UpdateBlocks& blocks) {
    UpdateBlocks copies{blocks.parameters.to(at::kCUDA), blocks.gradients.to(at::kCUDA), {}};
    for (const at::Tensor& state : blocks.state) copies.state.push_back(state.to(at::kCUDA));
    return copies;
  }

  /// Runs three steps with both updates, and compares all blocks. The last elements belong to no range.
  static void compare(Formula formula, at::ScalarType type, double tolerance) {
    const UpdateBlocks host = values(formula, type);
    const UpdateBlocks gpu = on_gpu(host);
    const devices::UpdateRequest request{formula, {{0, 64}, {64, 50'000}, {50'064, kCount - 50'080}}, {}};
    const auto expected = make_tensor_update(request, host);
    const auto fused = cuda::make_fused_update(request, gpu);
    for (int step = 1; step <= 3; ++step) {
      const at::Tensor gradients = at::randn({kCount}).to(type);
      at::Tensor(host.gradients).copy_(gradients);
      at::Tensor(gpu.gradients).copy_(gradients);
      const std::vector<Coefficients<double>> sets{coefficients(0.1 / step, 0.01), coefficients(0.1 / step, 0),
                                                   coefficients(0.1 / step, 0.01)};
      expected->run(sets);
      fused->run(sets);
    }
    expect_equal(gpu.parameters, host.parameters, tolerance);
    expect_equal(gpu.gradients, host.gradients, 0);
    for (std::size_t i = 0; i < host.state.size(); ++i) expect_equal(gpu.state[i], host.state[i], tolerance);
  }

  static void expect_equal(const at::Tensor& on_gpu, const at::Tensor& expected, double tolerance) {
    const at::Tensor mine = on_gpu.cpu().to(at::kDouble), theirs = expected.to(at::kDouble);
    ASSERT_TRUE(mine.isfinite().all().item<bool>());
    EXPECT_LE(((mine - theirs).abs() / (theirs.abs() + 1)).max().item<double>(), tolerance);
  }

  Formula formula() const { return static_cast<Formula>(GetParam()); }
};

TEST_P(FusedUpdateTest, HasTheBitsOfTheProcessorInSinglePrecision) { compare(formula(), at::kFloat, 0); }
TEST_P(FusedUpdateTest, FollowsTheRuleInDoublePrecision) { compare(formula(), at::kDouble, 1e-14); }
TEST_P(FusedUpdateTest, RoundsBFloat16AsTheProcessor) { compare(formula(), at::kBFloat16, 0); }
TEST_P(FusedUpdateTest, RoundsFloat16AsTheProcessor) { compare(formula(), at::kHalf, 0); }

INSTANTIATE_TEST_SUITE_P(Formulas, FusedUpdateTest, ::testing::Range(std::size_t{0}, devices::kFormulas));

TEST(FusedUpdateManyTest, MoreSetsOfCoefficientsThanOneLaunchTakes) {
  if (c10::cuda::device_count() == 0) GTEST_SKIP() << "skipped: no device";
  constexpr std::int64_t kRanges = 100, kEach = 32;
  const at::Tensor parameters = at::ones({kRanges * kEach}, at::kCUDA),
                   gradients = at::ones({kRanges * kEach}, at::kCUDA);
  devices::UpdateRequest request{Formula::kSgd, {}, {}};
  std::vector<Coefficients<double>> sets;
  for (std::int64_t i = 0; i < kRanges; ++i) {
    request.ranges.push_back({static_cast<std::uint64_t>(i * kEach), kEach});
    sets.push_back({.step_size = static_cast<double>(i)});
  }
  cuda::make_fused_update(request, {parameters, gradients, {}})->run(sets);
  const at::Tensor host = parameters.cpu();
  for (std::int64_t i = 0; i < kRanges; ++i)
    EXPECT_EQ(host[i * kEach + 7].item<float>(), static_cast<float>(1 - i)) << i;
}

}  // namespace
}  // namespace trainyard

#endif
