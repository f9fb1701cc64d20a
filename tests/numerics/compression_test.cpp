// SPDX-License-Identifier: Apache-2.0
// Tests the strategy `ddp` with compressed gradients.
#include <ATen/ops/full.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tensors/bridge.h"
#include "tests/numerics/given_gradients.h"
#include "tests/numerics/small_problem.h"

namespace trainyard::testing {
namespace {

using Gradients = GivenGradients::Gradients;

const std::vector<std::vector<std::int64_t>> kShapes{{40, 30}, {30}, {17, 5, 3}};

/// Returns tensors that `make` makes from the shape of every parameter, for every rank.
template <class Make>
std::vector<Gradients> given(const Make& make) {
  std::vector<Gradients> all(kRanks);
  for (Gradients& one : all) {
    for (const auto& shape : kShapes) one.push_back(make(shape));
  }
  return all;
}

at::Tensor exact_mean(const std::vector<Gradients>& all, std::size_t parameter) {
  std::vector<at::Tensor> tensors;
  for (const Gradients& one : all) tensors.push_back(one[parameter].to(at::kDouble));
  return at::stack(tensors).mean(0);
}

std::string compressed(const std::string& how) { return fmt::format(R"({{"compression": "{}"}})", how); }

TEST(HalfCompressionTest, IsExactForIntegersThatFit) {
  for (const char* how : {"fp16", "bf16"}) {
    // Sums of four numbers stay below 256, which 8 bits can hold.
    const auto all = given([](const auto& shape) { return at::randint(-60, 61, shape).to(at::kFloat); });
    GivenGradients ranks(kRanks, "ddp", compressed(how), kShapes);
    for (const Gradients& result : ranks.reduce(all)) {
      for (std::size_t i = 0; i < kShapes.size(); ++i) {
        EXPECT_TRUE(result[i].to(at::kDouble).equal(exact_mean(all, i))) << how;
      }
    }
  }
}

// The number of each rank is rounded, and their sum is rounded once more. Each rounding has an error of at most half a
// unit in the last place.
TEST(HalfCompressionTest, ErrsByTheRoundingsOfHalfPrecision) {
  for (const auto& [how, epsilon] : {std::pair{"fp16", 0x1p-11}, {"bf16", 0x1p-8}}) {
    const auto all = given([](const auto& shape) { return at::randn(shape); });
    GivenGradients ranks(kRanks, "ddp", compressed(how), kShapes);
    const std::vector<Gradients> results = ranks.reduce(all);
    for (std::size_t i = 0; i < kShapes.size(); ++i) {
      at::Tensor bound = exact_mean(all, i).abs();
      for (const Gradients& one : all) bound += one[i].abs() / double{kRanks};
      const at::Tensor error = (results[0][i].to(at::kDouble) - exact_mean(all, i)).abs();
      // The bound includes what rounded summands add to the second rounding, and subnormal numbers of float16.
      EXPECT_TRUE((error <= epsilon * (1 + 4 * epsilon) * bound + 1e-7).all().item<bool>()) << how;
      EXPECT_GT(error.max().item<double>(), 0) << how << " did not travel in 16 bits";
      for (const Gradients& other : results) EXPECT_TRUE(other[i].equal(results[0][i]));
    }
  }
}

TEST(HalfCompressionTest, TheMeanHasToFitAndNotTheSum) {
  const auto all = given([](const auto& shape) { return at::full(shape, 60000.0); });
  GivenGradients ranks(kRanks, "ddp", compressed("fp16"), kShapes);
  EXPECT_EQ(ranks.reduce(all)[0][0][0][0].item<float>(), 60000);
}

TEST(HalfCompressionTest, GradientsBeyondFloat16AreAStepThatLossScalingSkips) {
  ManyRanks ranks = ranks_with(R"({"plugin": "ddp", "compression": "fp16"})", R"({"rule": "sgd", "lr": 0.1})",
                               R"(, "precision": "16-mixed", "loss_scale": 1e9)");
  const at::Tensor before = ranks.parameters()[0];
  ranks.train(dealt_batches(0, 1));
  EXPECT_TRUE(ranks.parameters()[0].equal(before));
  ranks.train(dealt_batches(0, 30));
  EXPECT_FALSE(ranks.parameters()[0].equal(before));
  for (const at::Tensor& other : ranks.parameters()) EXPECT_TRUE(other.equal(ranks.parameters()[0]));
}

TEST(HalfCompressionTest, TrainsToAboutTheLossOfPlainDdp) {
  std::vector<double> last;
  for (const char* how : {"none", "fp16", "bf16"}) {
    ManyRanks ranks = ranks_with(fmt::format(R"({{"plugin": "ddp", "compression": "{}", "bucket_mb": 0.0005}})", how),
                                 R"({"rule": "sgd", "lr": 0.1, "momentum": 0.9})");
    last.push_back(ranks.train(dealt_batches(0, 40))[0].back());
    EXPECT_NEAR(last.back(), last.front(), 0.01) << how;
  }
}

std::string power_sgd(int rank) {
  return fmt::format(R"({{"compression": "powersgd", "powersgd_rank": {}, "powersgd_start_step": 0}})", rank);
}

double relative_error(const at::Tensor& value, const at::Tensor& exact) {
  return ((value - exact).norm() / exact.norm()).item<double>();
}

// Each of the four ranks has a gradient matrix of matrix rank one, so their mean has the matrix rank four.
TEST(PowerSgdTest, IsExactForGradientsOfItsRank) {
  const auto all = given([](const std::vector<std::int64_t>& shape) {
    if (shape.size() != 2) return at::randn(shape);
    return at::mm(at::randn({shape[0], 1}), at::randn({1, shape[1]}));
  });
  GivenGradients ranks(kRanks, "ddp", power_sgd(4), kShapes);
  for (int step = 0; step < 3; ++step) {
    for (const Gradients& result : ranks.reduce(all)) {
      for (std::size_t i = 0; i < kShapes.size(); ++i) {
        EXPECT_LE(relative_error(result[i], exact_mean(all, i)), 1e-5) << "step " << step << ", parameter " << i;
      }
    }
  }
}

TEST(PowerSgdTest, WhatIsLostInOneStepComesInLaterOnes) {
  const auto all = given([](const auto& shape) { return at::randn(shape); });
  const at::Tensor exact = exact_mean(all, 0);
  GivenGradients ranks(kRanks, "ddp", power_sgd(2), kShapes);
  at::Tensor sum = at::zeros_like(exact);
  std::vector<double> errors;
  for (int step = 1; step <= 400; ++step) {
    const std::vector<Gradients> results = ranks.reduce(all);
    for (const Gradients& other : results) ASSERT_TRUE(other[0].equal(results[0][0])) << "step " << step;
    sum += results[0][0];
    errors.push_back(relative_error(sum / step, exact));
  }
  EXPECT_GT(errors[0], 0.5) << "nothing was lost: it was not compressed";
  EXPECT_LT(errors[99], 0.3);
  EXPECT_LT(errors[399], errors[99] / 3);
}

TEST(PowerSgdTest, SmallTensorsAndTheFirstStepsTravelWhole) {
  const auto all = given([](const auto& shape) { return at::randn(shape); });
  GivenGradients ranks(kRanks, "ddp", R"({"compression": "powersgd", "powersgd_rank": 2, "powersgd_start_step": 1})",
                       kShapes);
  EXPECT_LE(relative_error(ranks.reduce(all)[0][0], exact_mean(all, 0)), 1e-6);
  const Gradients second = ranks.reduce(all)[0];
  EXPECT_GT(relative_error(second[0], exact_mean(all, 0)), 0.5);
  EXPECT_LE(relative_error(second[1], exact_mean(all, 1)), 1e-6);
}

TEST(PowerSgdTest, ForgetsGradientsThatOverflowed) {
  const auto finite = given([](const auto& shape) { return at::randn(shape); });
  auto overflown = finite;
  overflown[2][0] = at::full(kShapes[0], std::numeric_limits<double>::infinity());
  GivenGradients ranks(kRanks, "ddp", power_sgd(2), kShapes);
  GivenGradients fresh(kRanks, "ddp", power_sgd(2), kShapes);
  for (const Gradients& result : ranks.reduce(overflown)) {
    EXPECT_FALSE(std::isfinite(result[0].sum().item<double>()));
  }
  EXPECT_TRUE(ranks.reduce(finite)[0][0].equal(fresh.reduce(finite)[0][0]));
}

TEST(PowerSgdTest, TheLossScaleChangesNeitherTheResultNorTheSavedState) {
  const auto all = given([](const auto& shape) { return at::randn(shape); });
  GivenGradients unscaled(kRanks, "ddp", power_sgd(2), kShapes);
  GivenGradients scaled(kRanks, "ddp", power_sgd(2), kShapes);
  for (const double loss_scale : {1024.0, 1024.0, 2048.0, 0.5, 1.0, 65536.0}) {
    const std::vector<Gradients> expected = unscaled.reduce(all), results = scaled.reduce(all, loss_scale);
    for (std::size_t i = 0; i < kShapes.size(); ++i) EXPECT_TRUE(results[0][i].equal(expected[0][i])) << loss_scale;
  }
  const std::vector<SavedState> expected = unscaled.save(1), saved = scaled.save(1);
  ASSERT_EQ(saved.size(), expected.size());
  std::size_t tensors = 0;
  for (std::size_t i = 0; i < saved.size(); ++i) {
    ASSERT_EQ(saved[i].tensors.size(), expected[i].tensors.size());
    tensors += saved[i].tensors.size();
    for (std::size_t j = 0; j < saved[i].tensors.size(); ++j) {
      EXPECT_TRUE(view_of(saved[i].tensors[j].data).equal(view_of(expected[i].tensors[j].data)))
          << saved[i].tensors[j].name;
    }
  }
  EXPECT_GT(tensors, 0u);
}

// Gradients that are tiny in float16 are rounded less at a larger scale, so the results are not quite equal.
TEST(PowerSgdTest, TrainsEquallyWhetherOrNotTheLossScaleGrows) {
  const auto parameters = [](int growth_steps) {
    return trained(
        R"({"plugin": "ddp", "compression": "powersgd", "powersgd_start_step": 0})", R"({"rule": "sgd", "lr": 0.1})",
        40, fmt::format(R"(, "precision": "16-mixed", "loss_scale": 16, "loss_scale_growth_steps": {})", growth_steps));
  };
  EXPECT_LE(largest_difference(parameters(4), parameters(1000)), 1e-3);
}

TEST(PowerSgdTest, TrainsToAboutTheLossOfPlainDdp) {
  std::vector<double> last;
  for (const char* strategy :
       {R"({"plugin": "ddp"})", R"({"plugin": "ddp", "compression": "powersgd", "powersgd_start_step": 5})"}) {
    ManyRanks ranks(kRanks, fmt::format(R"("model": {{"plugin": "mlp", "hidden": [64]}}, "strategy": {})", strategy),
                    R"({"rule": "sgd", "lr": 0.1, "momentum": 0.9})", made_up_data(kFeatures, kClasses));
    std::vector<std::vector<Batch>> batches = dealt_batches(0, 10);
    for (int pass = 0; pass < 20; ++pass) last.push_back(ranks.train(batches)[0].back());
    for (const at::Tensor& other : ranks.parameters()) EXPECT_TRUE(other.equal(ranks.parameters()[0]));
  }
  EXPECT_NEAR(last[39], last[19], 0.1 * last[0]);
}

}  // namespace
}  // namespace trainyard::testing
