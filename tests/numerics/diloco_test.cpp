// SPDX-License-Identifier: Apache-2.0
// Tests the strategy `diloco`, in which ranks make steps independently, followed by a step of an outer optimizer.
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include "tests/numerics/small_problem.h"

namespace trainyard::testing {
namespace {

constexpr const char* kPlainSgd = R"({"rule": "sgd", "lr": 0.1})";

TEST(DilocoTest, EqualsDdpWithAnOuterStepOfOneAndNoMomentum) {
  const std::string outer = R"({"plugin": "diloco", "every_steps": 1, "outer_lr": 1, "outer_momentum": 0})";
  EXPECT_LE(largest_difference(trained(outer, kPlainSgd, 20), trained(R"({"plugin": "ddp"})", kPlainSgd, 20)), 1e-6);
}

TEST(DilocoTest, MakesTheOuterStepsOfNesterovSgd) {
  constexpr double kLr = 0.7, kMomentum = 0.9;
  ManyRanks ranks = ranks_with(R"({"plugin": "diloco", "every_steps": 3})", kPlainSgd);
  at::Tensor anchor = ranks.parameters()[0];
  at::Tensor velocity = at::zeros_like(anchor);
  for (std::uint64_t round = 0; round < 3; ++round) {
    // The inner steps of every rank are made by a separate run.
    std::vector<at::Tensor> inner;
    std::vector<std::vector<Batch>> dealt = dealt_batches(3 * round, 3);
    for (std::vector<Batch>& batches : dealt) {
      for (Batch& batch : batches) batch.world_samples = 0;  // It is a run of one rank.
      MiniRun alone(mlp_with(R"({"plugin": "single_device"})"), kPlainSgd, made_up_data(kFeatures, kClasses));
      alone.parameters().copy_(anchor);
      alone.train(batches);
      inner.push_back(alone.parameters().clone());
    }
    const at::Tensor gradient = anchor - mean_of(inner);
    velocity = kMomentum * velocity + gradient;
    anchor = anchor - kLr * (gradient + kMomentum * velocity);

    ranks.train(dealt_batches(3 * round, 3));
    EXPECT_TRUE(all_equal(ranks.parameters()));
    EXPECT_LE(largest_difference(ranks.parameters()[0], anchor), 1e-6) << "round " << round;
  }
}

TEST(DilocoTest, ASnapshotIsAnOuterStepAhead) {
  ManyRanks ranks = ranks_with(R"({"plugin": "diloco", "every_steps": 100})", kPlainSgd);
  const at::Tensor anchor = ranks.parameters()[0];
  ranks.train(dealt_batches(0, 4));
  const at::Tensor gradient = anchor - mean_of(ranks.parameters());
  take_snapshot(ranks);
  EXPECT_TRUE(all_equal(ranks.parameters()));
  EXPECT_LE(largest_difference(ranks.parameters()[0], anchor - 0.7 * (gradient + 0.9 * gradient)), 1e-6);
}

}  // namespace
}  // namespace trainyard::testing
