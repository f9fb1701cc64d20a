// SPDX-License-Identifier: Apache-2.0
// Tests the strategy `local_sgd`, in which ranks make steps independently and average their parameters from time to
// time.
#include <gtest/gtest.h>

#include "tests/numerics/small_problem.h"

namespace trainyard::testing {
namespace {

constexpr const char* kPlainSgd = R"({"rule": "sgd", "lr": 0.1})";
constexpr const char* kMomentumSgd = R"({"rule": "sgd", "lr": 0.1, "momentum": 0.9})";

TEST(LocalSgdTest, EqualsDdpIfRanksAverageAfterEveryPlainStep) {
  const at::Tensor ddp = trained(R"({"plugin": "ddp"})", kPlainSgd, 20);
  EXPECT_LE(largest_difference(trained(R"({"plugin": "local_sgd", "every_steps": 1})", kPlainSgd, 20), ddp), 1e-6);
  const std::string wide = R"(, "precision": "64-true")";
  EXPECT_LE(largest_difference(trained(R"({"plugin": "local_sgd", "every_steps": 1})", kPlainSgd, 20, wide),
                               trained(R"({"plugin": "ddp"})", kPlainSgd, 20, wide)),
            1e-12);
}

TEST(LocalSgdTest, RanksAreEqualAfterEveryThirdStepAndDifferBetween) {
  ManyRanks ranks = ranks_with(R"({"plugin": "local_sgd", "every_steps": 3})", kMomentumSgd);
  for (std::uint64_t step = 1; step <= 7; ++step) {
    ranks.train(dealt_batches(step, 1));
    EXPECT_EQ(all_equal(ranks.parameters()), step % 3 == 0) << "after step " << step;
  }
}

TEST(LocalSgdTest, AnEvaluationIsOfTheMeanAndLeavesRanksAsTheyWere) {
  ManyRanks ranks = ranks_with(R"({"plugin": "local_sgd", "every_steps": 3})", kPlainSgd);
  ranks.train(dealt_batches(0, 4));
  const std::vector<at::Tensor> before = ranks.parameters();
  std::vector<double> losses(kRanks);
  ranks.each(
      [&](std::uint32_t rank, MiniRun& run) { losses[rank] = run.evaluate(whole_batches(100, 2)).front().value; });
  const std::vector<at::Tensor> after = ranks.parameters();
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) EXPECT_TRUE(after[rank].equal(before[rank])) << rank;

  MiniRun mean(mlp_with(R"({"plugin": "single_device"})"), kPlainSgd, made_up_data(kFeatures, kClasses));
  mean.parameters().copy_(mean_of(before));
  for (const double loss : losses) EXPECT_NEAR(loss, mean.evaluate(whole_batches(100, 2)).front().value, 1e-6);
}

TEST(LocalSgdTest, ASnapshotIsOfTheMeanWithWhichRanksGoOn) {
  ManyRanks ranks = ranks_with(R"({"plugin": "local_sgd", "every_steps": 3})", kPlainSgd);
  ranks.train(dealt_batches(0, 4));
  const at::Tensor mean = mean_of(ranks.parameters());
  take_snapshot(ranks);
  EXPECT_TRUE(all_equal(ranks.parameters()));
  EXPECT_LE(largest_difference(ranks.parameters()[0], mean), 1e-7);
}

// The gradients of one rank overflow in 16 bits. All ranks must then skip the step, not only this rank.
TEST(LocalSgdTest, ASkippedStepIsSkippedByAllRanks) {
  ManyRanks ranks =
      ranks_with(R"({"plugin": "local_sgd", "every_steps": 2})", kPlainSgd, R"(, "precision": "16-mixed")");
  std::vector<std::vector<Batch>> batches = dealt_batches(0, 3);
  for (float& value : batches[1][1].tensors[0].as<float>()) value *= 1e30F;
  const auto losses = ranks.train(batches);
  for (const auto& one : losses) EXPECT_EQ(one.size(), 2u);
  EXPECT_TRUE(all_equal(ranks.parameters()));
}

}  // namespace
}  // namespace trainyard::testing
