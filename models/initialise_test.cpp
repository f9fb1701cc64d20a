// SPDX-License-Identifier: Apache-2.0
#include "models/initialise.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/abs.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

void seed(std::uint64_t seed) { at::Generator(at::detail::getDefaultCPUGenerator()).set_current_seed(seed); }

TEST(InitialiseTest, UniformParametersLieWithinTheBoundOfTheirFanIn) {
  seed(1);
  const at::Tensor weight = uniform_parameter({100, 25}, 25);
  EXPECT_LE(weight.abs().max().item<float>(), 0.2f);
  EXPECT_GT(weight.abs().max().item<float>(), 0.19f);
  EXPECT_NEAR(weight.mean().item<float>(), 0, 0.01);
}

TEST(InitialiseTest, NormalParametersHaveTheirDeviation) {
  seed(1);
  const at::Tensor weight = normal_parameter({100, 100}, 0.02);
  EXPECT_NEAR(weight.std().item<float>(), 0.02, 0.001);
  EXPECT_NEAR(weight.mean().item<float>(), 0, 0.001);
}

TEST(InitialiseTest, TheSeedDecidesWhatIsDrawn) {
  seed(1);
  const at::Tensor first = uniform_parameter({8}, 4);
  seed(1);
  EXPECT_TRUE(uniform_parameter({8}, 4).equal(first));
  EXPECT_FALSE(uniform_parameter({8}, 4).equal(first));
}

TEST(InitialiseTest, ParametersAreLeavesThatRequireAGradient) {
  for (const at::Tensor& parameter :
       {uniform_parameter({2}, 4), normal_parameter({2}, 1), constant_parameter({2}, 3)}) {
    EXPECT_TRUE(parameter.is_leaf() && parameter.requires_grad());
    EXPECT_EQ(parameter.scalar_type(), at::kFloat);
  }
  EXPECT_EQ(constant_parameter({2}, 3).sum().item<float>(), 6);
}

}  // namespace
}  // namespace trainyard
