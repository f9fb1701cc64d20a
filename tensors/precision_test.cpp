// SPDX-License-Identifier: Apache-2.0
#include "tensors/precision.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include "messages/error.h"
#include "tensors/autocast.h"
#include "tensors/half_emulation.h"

namespace trainyard {
namespace {

TEST(PrecisionTest, TrueModesHaveOneTypeAndMixedOnesKeepFloatParameters) {
  for (const std::string& name : precision_names()) {
    const Precision precision = parse_precision(name);
    EXPECT_EQ(precision.name, name);
    EXPECT_EQ(precision.mixed(), name.ends_with("-mixed")) << name;
    if (precision.mixed()) {
      EXPECT_EQ(precision.parameters, at::kFloat) << name;
    }
    EXPECT_EQ(precision.scales_loss, name == "16-mixed") << name;
  }
  EXPECT_EQ(parse_precision("64-true").parameters, at::kDouble);
  EXPECT_EQ(parse_precision("bf16-true").parameters, at::kBFloat16);
  EXPECT_EQ(parse_precision("16-true").parameters, at::kHalf);
  EXPECT_EQ(parse_precision("bf16-mixed").computation, at::kBFloat16);
}

TEST(PrecisionTest, ShortNamesMeanWhatTheyMeanInLightning) {
  EXPECT_EQ(parse_precision("64").name, "64-true");
  EXPECT_EQ(parse_precision("32").name, "32-true");
  EXPECT_EQ(parse_precision("bf16").name, "bf16-mixed");
  EXPECT_EQ(parse_precision("16").name, "16-mixed");
}

TEST(PrecisionTest, WhatIsUnknownIsRefusedWithTheKnownNames) {
  try {
    parse_precision("fp8");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "precision 'fp8' is not known; known: 64-true, 32-true, bf16-mixed, 16-mixed, bf16-true, 16-true, 64, "
                 "32, bf16, 16");
  }
}

TEST(PrecisionTest, OnlyFloatingTensorsChangeTheirType) {
  const Precision precision = parse_precision("64-true");
  EXPECT_EQ(with_precision(at::ones({2}), precision).scalar_type(), at::kDouble);
  EXPECT_EQ(with_precision(at::ones({2}, at::kLong), precision).scalar_type(), at::kLong);
  const at::Tensor bytes = at::ones({2}, at::kByte);
  EXPECT_TRUE(with_precision(bytes, precision).is_same(bytes));
}

TEST(AutocastTest, ProductsAreComputedInSixteenBitsInsideAndInFloatOutside) {
  const at::Tensor x = at::randn({4, 8});
  const at::Tensor weight = at::randn({3, 8}).set_requires_grad(true);
  {
    const Autocast autocast(at::kCPU, at::kBFloat16);
    EXPECT_EQ(at::linear(x, weight).scalar_type(), at::kBFloat16);
  }
  EXPECT_EQ(at::linear(x, weight).scalar_type(), at::kFloat);
}

TEST(AutocastTest, ANewOneSeesWeightsThatHaveChanged) {
  const at::Tensor x = at::ones({1, 4});
  at::Tensor weight = at::ones({1, 4}).set_requires_grad(true);
  const auto product = [&] {
    const Autocast autocast(at::kCPU, at::kBFloat16);
    return at::linear(x, weight).item<float>();
  };
  EXPECT_EQ(product(), 4);
  weight.detach().mul_(2);
  EXPECT_EQ(product(), 8);
}

/// An arena with a single parameter of four numbers.
struct OneParameter {
  explicit OneParameter(const std::vector<float>& values)
      : parameter(at::ones({static_cast<std::int64_t>(values.size())}).set_requires_grad(true)),
        arena({{"weight", parameter}}, {}, [](std::size_t bytes) { return Buffer::heap(bytes); }) {
    const at::NoGradGuard no_gradients;
    arena.gradients().view(-1).zero_();
    for (std::size_t i = 0; i < values.size(); ++i) arena.parameters()[static_cast<std::int64_t>(i)] = values[i];
  }
  at::Tensor parameter;
  Arena arena;
};

TEST(HalfEmulationTest, TheModelSeesRoundedWeightsAndTheArenaKeepsTheMasters) {
  OneParameter one({1.0F, 1.0F + 0x1p-12F, 70000.0F, 1e-9F});
  HalfEmulation emulation({{"weight", one.parameter}}, one.arena);
  EXPECT_EQ(one.parameter[0].item<float>(), 1.0F);
  EXPECT_EQ(one.parameter[1].item<float>(), 1.0F) << "float16 has ten bits after the point";
  EXPECT_TRUE(std::isinf(one.parameter[2].item<float>()));
  EXPECT_EQ(one.parameter[3].item<float>(), 0.0F);
  EXPECT_EQ(one.arena.parameters()[1].item<float>(), 1.0F + 0x1p-12F);
  one.arena.parameters()[0] = 3;
  emulation.refresh();
  EXPECT_EQ(one.parameter[0].item<float>(), 3.0F);
}

TEST(HalfEmulationTest, GradientsOverflowAndVanishAsInFloat16) {
  OneParameter one({1, 1, 1, 1});
  const HalfEmulation emulation({{"weight", one.parameter}}, one.arena);
  const at::Tensor slopes = at::ones({4});
  slopes[1] = 1e5;
  slopes[2] = 1e-9;
  slopes[3] = 65504;
  for (int pass = 0; pass < 2; ++pass) (one.parameter * slopes).sum().backward();
  const at::Tensor gradients = one.arena.gradients();
  EXPECT_EQ(gradients[0].item<float>(), 2) << "added in the arena";
  EXPECT_TRUE(std::isinf(gradients[1].item<float>()));
  EXPECT_EQ(gradients[2].item<float>(), 0);
  EXPECT_EQ(gradients[3].item<float>(), 2 * 65504.0F) << "the sum is float32";
}

}  // namespace
}  // namespace trainyard
