// SPDX-License-Identifier: Apache-2.0
// Tests the strategy `diloco`, in which ranks make steps independently, followed by a step of an outer optimizer.
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <memory>

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

constexpr const char* kMomentumSgd = R"({"rule": "sgd", "lr": 0.1, "momentum": 0.9})";

/// Returns a separate run of one rank for every rank, all with the same parameters as the ranks.
std::vector<std::unique_ptr<MiniRun>> runs_alone() {
  std::vector<std::unique_ptr<MiniRun>> alone;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    alone.push_back(std::make_unique<MiniRun>(mlp_with(R"({"plugin": "single_device"})"), kMomentumSgd,
                                              made_up_data(kFeatures, kClasses)));
  }
  return alone;
}

/// The algorithm in a plain loop: what is sent after a step arrives some steps later, and is mixed in.
void expect_overlapping_exchanges(std::uint64_t every, std::uint64_t overlap, double share, at::ScalarType form,
                                  const std::string& strategy) {
  ManyRanks ranks = ranks_with(strategy, kMomentumSgd);
  at::Tensor anchor = ranks.parameters()[0];
  at::Tensor velocity = at::zeros_like(anchor);
  at::Tensor sent;
  const std::vector<std::unique_ptr<MiniRun>> alone = runs_alone();
  for (const auto& run : alone) run->parameters().copy_(anchor);
  for (std::uint64_t step = 1; step <= 4 * every; ++step) {
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      std::vector<Batch> batches = dealt_batches(step, 1)[rank];
      batches[0].world_samples = 0;  // It is a run of one rank.
      alone[rank]->train(batches);
    }
    const auto receive = [&] {
      velocity = 0.9 * velocity + sent;
      anchor = anchor - 0.7 * (sent + 0.9 * velocity);
      for (const auto& run : alone) run->parameters().copy_(share * run->parameters() + (1 - share) * anchor);
    };
    if (overlap > 0 && step > every && step % every == overlap) receive();
    if (step % every == 0) {
      std::vector<at::Tensor> changes;
      for (const auto& run : alone) changes.push_back((anchor - run->parameters()).to(form).to(at::kFloat));
      sent = mean_of(changes).to(form).to(at::kFloat);
      if (overlap == 0) receive();
    }
    ranks.train(dealt_batches(step, 1));
    const std::vector<at::Tensor> now = ranks.parameters();
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      ASSERT_LE(largest_difference(now[rank], alone[rank]->parameters()), 2e-6) << "step " << step << ", rank " << rank;
    }
  }
}

TEST(DilocoTest, MixesInWhatWasSentSomeStepsBefore) {
  expect_overlapping_exchanges(4, 3, 0.5, at::kFloat, R"({"plugin": "diloco", "every_steps": 4, "overlap_steps": 3})");
  expect_overlapping_exchanges(5, 1, 0.25, at::kFloat,
                               R"({"plugin": "diloco", "every_steps": 5, "overlap_steps": 1, "local_share": 0.25})");
}

TEST(DilocoTest, SendsChangesInSixteenBits) {
  expect_overlapping_exchanges(4, 0, 0, at::kBFloat16,
                               R"({"plugin": "diloco", "every_steps": 4, "compression": "bf16"})");
  expect_overlapping_exchanges(
      4, 2, 0, at::kBFloat16,
      R"({"plugin": "diloco", "every_steps": 4, "compression": "bf16", "overlap_steps": 2, "local_share": 0})");
}

// The mean of the ranks is evaluated, whether an exchange is under way or not, and the exchange goes on.
TEST(DilocoTest, AnEvaluationDuringAnExchangeIsOfTheMeanAndChangesNothing) {
  const std::string strategy = R"({"plugin": "diloco", "every_steps": 4, "overlap_steps": 2})";
  ManyRanks ranks = ranks_with(strategy, kPlainSgd), undisturbed = ranks_with(strategy, kPlainSgd);
  for (ManyRanks* one : {&ranks, &undisturbed}) one->train(dealt_batches(0, 5));
  const std::vector<at::Tensor> before = ranks.parameters();
  std::vector<double> losses(kRanks);
  ranks.each(
      [&](std::uint32_t rank, MiniRun& run) { losses[rank] = run.evaluate(whole_batches(100, 2)).front().value; });
  MiniRun mean(mlp_with(R"({"plugin": "single_device"})"), kPlainSgd, made_up_data(kFeatures, kClasses));
  mean.parameters().copy_(mean_of(before));
  for (const double loss : losses) EXPECT_NEAR(loss, mean.evaluate(whole_batches(100, 2)).front().value, 1e-6);
  for (ManyRanks* one : {&ranks, &undisturbed}) one->train(dealt_batches(5, 5));
  const std::vector<at::Tensor> after = ranks.parameters(), expected = undisturbed.parameters();
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) EXPECT_TRUE(after[rank].equal(expected[rank])) << rank;
}

// Overflow makes all ranks skip the step after which an exchange was due.
TEST(DilocoTest, AnExchangeThatWasDueAfterASkippedStepEndsAfterTheNextOne) {
  ManyRanks ranks = ranks_with(R"({"plugin": "diloco", "every_steps": 3, "overlap_steps": 1, "local_share": 0})",
                               kPlainSgd, R"(, "precision": "16-mixed")");
  ranks.train(dealt_batches(0, 3));
  EXPECT_FALSE(all_equal(ranks.parameters()));
  std::vector<std::vector<Batch>> batches = dealt_batches(3, 1);
  for (float& value : batches[1][0].tensors[0].as<float>()) value *= 1e30F;
  ranks.train(batches);
  EXPECT_FALSE(all_equal(ranks.parameters()));
  ranks.train(dealt_batches(4, 1));
  EXPECT_TRUE(all_equal(ranks.parameters()));
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
