// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/gradient_scaling.h"

#include <ATen/TensorOperators.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/testing/error_of.h"
#include "strategies/testing/rank_team.h"
#include "tensors/norm.h"

namespace trainyard {
namespace {

using testing::error_of;
using testing::made_up_rows;

/// A single rank with a strategy and a small model.
class GradientScalingTest : public ::testing::Test {
 protected:
  Strategy& after_micro_batch(double weight) {
    strategy().train({.data = made_up_rows(1, 4), .samples = 4, .weight = weight});
    return strategy();
  }
  Strategy& strategy() { return team_.member(0).strategy(); }
  at::Tensor gradients() { return team_.member(0).arena().own_gradients(); }

  testing::RankTeam team_{1, "single_device"};
};

TEST_F(GradientScalingTest, ChangesNothingUnlessItIsAskedTo) {
  GradientScaling scaling({.where = "here", .accelerator = "cpu"});
  EXPECT_EQ(scaling.scaled(0.5), 0.5);
  EXPECT_EQ(scaling.loss_scale(), 1);
  const StepResult result = scaling.end_step(after_micro_batch(1), {});
  EXPECT_EQ(result.scale, 1);
  EXPECT_EQ(result.norm, 0) << "nobody needs it";
  EXPECT_FALSE(result.skipped);
  EXPECT_TRUE(scaling.metrics().empty());
}

TEST_F(GradientScalingTest, ClipsTheNormByAFactorForTheOptimizer) {
  GradientScaling scaling({.where = "here", .accelerator = "cpu"});
  Strategy& strategy = after_micro_batch(1);
  const double norm = l2_norm(gradients());
  const StepResult tight = scaling.end_step(strategy, {.norm = norm / 2});
  EXPECT_NEAR(tight.norm, norm, 1e-6 * norm);
  EXPECT_NEAR(tight.scale, 0.5, 1e-5);
  strategy.drop_step();
  EXPECT_EQ(scaling.end_step(after_micro_batch(1), {.norm = norm * 2}).scale, 1) << "a norm below the limit stays";
}

TEST_F(GradientScalingTest, ClipsValuesInTheArena) {
  GradientScaling scaling({.where = "here", .accelerator = "cpu"});
  Strategy& strategy = after_micro_batch(1);
  const double limit = gradients().abs().max().item<double>() / 2;
  EXPECT_EQ(scaling.end_step(strategy, {.value = limit}).scale, 1);
  EXPECT_NEAR(gradients().abs().max().item<double>(), limit, 1e-6 * limit);
}

TEST_F(GradientScalingTest, ALossScaleIsUndoneAndInvisibleInTheNorm) {
  GradientScaling scaling({.where = "here", .accelerator = "cpu", .loss = LossScaling{.initial = 1024}});
  EXPECT_EQ(scaling.scaled(0.5), 512);
  EXPECT_EQ(scaling.loss_scale(), 1024);
  Strategy& strategy = after_micro_batch(1);
  const double norm = l2_norm(gradients());
  strategy.drop_step();
  const StepResult result = scaling.end_step(after_micro_batch(scaling.scaled(1)), {.norm = 1e6});
  EXPECT_EQ(result.scale, 1.0 / 1024);
  EXPECT_NEAR(result.norm, norm, 1e-5 * norm);
}

TEST_F(GradientScalingTest, AStepWhoseGradientsOverflowIsSkippedAndLowersTheLossScale) {
  GradientScaling scaling({.where = "here", .accelerator = "cpu", .loss = LossScaling{.initial = 1024}});
  const StepResult result = scaling.end_step(after_micro_batch(std::numeric_limits<double>::infinity()), {});
  ASSERT_TRUE(result.skipped);
  EXPECT_EQ(result.skipped->loss_scale, 1024);
  EXPECT_EQ(result.skipped->next_loss_scale, 512);
  EXPECT_EQ(result.skipped->skipped, 1u);
  EXPECT_EQ(gradients().abs().max().item<double>(), 0) << "they are discarded";
  EXPECT_EQ(scaling.scaled(1), 512);
}

TEST_F(GradientScalingTest, RefusesClippingThatTheAcceleratorDoesNotAllow) {
  GradientScaling scaling({.where = "here", .accelerator = "ipu", .clipping_allowed = false});
  EXPECT_FALSE(scaling.end_step(after_micro_batch(1), {}).skipped);
  const auto [code, text] = error_of([&] { scaling.end_step(after_micro_batch(1), {.norm = 1}); });
  EXPECT_EQ(code, Code::kUnsupported);
  EXPECT_THAT(text, ::testing::HasSubstr("here: clip_norm = 1 and clip_value = 0 are not allowed with the accelerator "
                                         "'ipu', rule gradient_clipping"));
}

}  // namespace
}  // namespace trainyard
