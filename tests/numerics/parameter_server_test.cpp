// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

#include "messages/error.h"
#include "messages/metrics.h"
#include "messages/step.h"
#include "tests/numerics/small_problem.h"

namespace trainyard::testing {
namespace {

std::string server(const std::string& mode, int staleness = 4) {
  return fmt::format(R"({{"plugin": "parameter_server", "mode": "{}", "staleness": {}}})", mode, staleness);
}

/// Returns a metric of the last step that the rank has reported.
double last_metric(MiniRun& run, const std::string& name) {
  double value = std::numeric_limits<double>::quiet_NaN();
  for (const Metrics& said : run.metrics()) {
    for (const Scalar& scalar : said.values) {
      if (scalar.name == name) value = scalar.value;
    }
  }
  return value;
}

std::vector<std::uint64_t> pushes(ManyRanks& ranks) {
  std::vector<std::uint64_t> counts(kRanks);
  ranks.each(
      [&](std::uint32_t rank, MiniRun& run) { counts[rank] = run.rig().received<Gradients>("gradients").size(); });
  return counts;
}

/// Returns the total number of updates, as reported by the rank that was the last to end its last step.
std::uint64_t updates(ManyRanks& ranks) {
  std::vector<double> seen(kRanks);
  ranks.each([&](std::uint32_t rank, MiniRun& run) { seen[rank] = last_metric(run, "server_updates"); });
  return static_cast<std::uint64_t>(std::ranges::max(seen));
}

double staleness(ManyRanks& ranks) {
  std::vector<double> seen(kRanks);
  ranks.each([&](std::uint32_t rank, MiniRun& run) { seen[rank] = last_metric(run, "staleness"); });
  return std::ranges::max(seen);
}

std::vector<double> evaluated_losses(ManyRanks& ranks) {
  std::vector<double> losses(kRanks);
  ranks.each([&](std::uint32_t rank, MiniRun& run) { losses[rank] = run.evaluate(whole_batches(0, 4)).at(0).value; });
  return losses;
}

void wait_until(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) throw Error(Code::kTimeout, "the test waited {} s in vain", 60);
    std::this_thread::yield();
  }
}

TEST(ParameterServerTest, InSyncItEqualsDdpBitForBit) {
  for (const char* rule : {R"({"rule": "sgd", "lr": 0.1, "momentum": 0.9})", R"({"rule": "adamw", "lr": 0.01})"}) {
    ManyRanks ddp = ranks_with(R"({"plugin": "ddp"})", rule);
    ManyRanks one = ranks_with(server("sync"), rule);
    ddp.train(dealt_batches(0, 20));
    one.train(dealt_batches(0, 20));
    EXPECT_TRUE(one.whole_parameters().equal(ddp.parameters()[0]));
    EXPECT_EQ(evaluated_losses(one), evaluated_losses(ddp)) << "every worker has what the server has";
    EXPECT_THAT(pushes(one), ::testing::ElementsAre(20, 0, 0, 0));
    EXPECT_EQ(updates(one), 20u);
  }
}

TEST(ParameterServerTest, WithoutStalenessUpdatesOfAStepAddUpToThatOfTheMean) {
  ManyRanks ddp = ranks_with(R"({"plugin": "ddp"})", R"({"rule": "sgd", "lr": 0.4})");
  ManyRanks one = ranks_with(server("bounded", 0), R"({"rule": "sgd", "lr": 0.1})");
  const at::Tensor before = one.whole_parameters();
  ddp.train(dealt_batches(0, 20), 2);
  one.train(dealt_batches(0, 20), 2);
  EXPECT_GT(largest_difference(one.whole_parameters(), before), 1e-2);
  EXPECT_LE(largest_difference(one.whole_parameters(), ddp.parameters()[0]), 1e-6);
  EXPECT_EQ(staleness(one), 0);
}

TEST(ParameterServerTest, AWorkerThatIsHeldUpHoldsTheOthersBackAtTheBound) {
  constexpr std::uint64_t kSteps = 8;
  const std::vector<std::vector<Batch>> batches = dealt_batches(0, kSteps);
  for (const int bound : {0, 2}) {
    ManyRanks ranks = ranks_with(server("bounded", bound), R"({"rule": "adam", "lr": 0.01})");
    std::array<std::atomic<std::uint64_t>, kRanks> steps{};
    ranks.each([&](std::uint32_t rank, MiniRun& run) {
      for (std::uint64_t step = 0; step < kSteps; ++step) {
        const std::uint64_t allowed = std::min<std::uint64_t>(step + static_cast<std::uint64_t>(bound), kSteps);
        for (std::uint32_t other = 0; rank == 3 && other < 3; ++other) {
          wait_until([&] { return steps[other] >= allowed; });
          EXPECT_EQ(steps[other], allowed);
        }
        run.train({batches[rank][step]});
        ++steps[rank];
      }
    });
    EXPECT_EQ(staleness(ranks), bound);
    EXPECT_THAT(pushes(ranks), ::testing::Each(kSteps));
    EXPECT_EQ(updates(ranks), kRanks * kSteps);
    EXPECT_THAT(evaluated_losses(ranks), ::testing::Each(evaluated_losses(ranks)[0]));
  }
}

/// The gradients are clipped to zero, so every update only multiplies all parameters by the same factor, from which the
/// number of updates follows.
TEST(ParameterServerTest, NoUpdateIsLostOrMadeTwice) {
  constexpr int kSteps = 30;
  for (const std::string mode : {"sync", "bounded", "async"}) {
    ManyRanks ranks =
        ranks_with(server(mode, 1), R"({"rule": "sgd", "lr": 0.1, "weight_decay": 0.1})", R"(, "clip_norm": 1e-30)");
    const at::Tensor before = ranks.whole_parameters();
    ranks.train(dealt_batches(0, kSteps));
    const int made = mode == "sync" ? kSteps : static_cast<int>(kRanks) * kSteps;
    EXPECT_EQ(updates(ranks), static_cast<std::uint64_t>(made)) << mode;
    const double left = std::pow(0.99, made);
    EXPECT_LE(largest_difference(ranks.whole_parameters(), before * left), 1e-4 * left) << mode;
  }
}

/// Returns batches that a model can learn: the class of a sample is the index of the largest among its first numbers.
std::vector<Batch> sensible_batches(int count) {
  std::vector<Batch> batches = whole_batches(0, count);
  for (Batch& batch : batches) {
    const auto input = batch.tensors[0].as<float>();
    const auto target = batch.tensors[1].as<std::int64_t>();
    for (std::size_t row = 0; row < target.size(); ++row) {
      const auto first = input.begin() + static_cast<std::ptrdiff_t>(row) * kFeatures;
      target[row] = std::max_element(first, first + kClasses) - first;
    }
  }
  return batches;
}

TEST(ParameterServerTest, InAsyncTheLossGoesDownAndAllEvaluateTheSame) {
  constexpr int kSteps = 100;
  ManyRanks ranks = ranks_with(server("async"), R"({"rule": "sgd", "lr": 0.1})");
  const auto evaluate = [&ranks] {
    std::vector<double> losses(kRanks);
    ranks.each(
        [&](std::uint32_t rank, MiniRun& run) { losses[rank] = run.evaluate(sensible_batches(kSteps)).at(0).value; });
    EXPECT_THAT(losses, ::testing::Each(losses[0]));
    return losses[0];
  };
  const double before = evaluate();
  ranks.train(deal(sensible_batches(kSteps), kRanks));
  EXPECT_LT(evaluate(), 0.7 * before);
  EXPECT_EQ(updates(ranks), kRanks * kSteps);
  EXPECT_THAT(pushes(ranks), ::testing::Each(kSteps));
}

TEST(ParameterServerTest, SchedulesFollowTheStepsOfTheRunNotTheUpdates) {
  ManyRanks ranks =
      ranks_with(server("bounded", 1), R"({"rule": "sgd", "lr": 0.8, "schedule": "linear", "total_steps": 8})");
  ranks.train(dealt_batches(0, 5));
  ranks.each([](std::uint32_t, MiniRun& run) { EXPECT_DOUBLE_EQ(last_metric(run, "learning_rate"), 0.4); });
}

TEST(ParameterServerTest, AWorkerWithoutSamplesMakesNoUpdateAndHoldsNobodyUp) {
  constexpr int kSteps = 6;
  for (const std::string mode : {"sync", "bounded", "async"}) {
    ManyRanks ranks = ranks_with(server(mode, 0), R"({"rule": "sgd", "lr": 0.05})");
    std::vector<std::vector<Batch>> batches = dealt_batches(0, kSteps);
    for (int i = 1; i < kSteps; i += 2) {
      Batch& batch = batches[2][static_cast<std::size_t>(i)];
      batch = rows(batch, 0, 0);
      for (auto& rank : batches) rank[static_cast<std::size_t>(i)].world_samples = 24;
    }
    ranks.train(batches);
    if (mode != "sync") {
      EXPECT_THAT(pushes(ranks), ::testing::ElementsAre(6, 6, 3, 6)) << mode;
      EXPECT_EQ(updates(ranks), 21u) << mode;
    }
    const std::vector<double> losses = evaluated_losses(ranks);
    EXPECT_THAT(losses, ::testing::Each(losses[0])) << mode;
  }
}

TEST(ParameterServerTest, AWorkerWhoseGradientsOverflowMakesNoUpdateAndHoldsNobodyUp) {
  constexpr int kSteps = 6;
  ManyRanks ranks = ranks_with(server("bounded", 1), R"({"rule": "sgd", "lr": 0.01})", R"(, "precision": "16-mixed")");
  std::vector<std::vector<Batch>> batches = dealt_batches(0, kSteps);
  Batch& large = batches[1][2];  // Ranks share the memory of a batch, so this batch gets its own copy.
  large.tensors[0] = Tensor::empty(DType::kFloat32, large.tensors[0].shape);
  std::ranges::fill(large.tensors[0].as<float>(), 3e4F);
  ranks.train(batches);
  const std::vector<std::uint64_t> made = pushes(ranks);
  EXPECT_LT(made[1], kSteps);
  EXPECT_EQ(updates(ranks), made[0] + made[1] + made[2] + made[3]);
  const std::vector<double> losses = evaluated_losses(ranks);
  EXPECT_THAT(losses, ::testing::Each(losses[0]));
  EXPECT_TRUE(std::isfinite(losses[0]));
}

TEST(ParameterServerTest, ASingleRankNeedsNoServer) {
  const char* rule = R"({"rule": "sgd", "lr": 0.1, "momentum": 0.9})";
  for (const std::string mode : {"sync", "bounded", "async"}) {
    MiniRun one(mlp_with(server(mode)), rule, made_up_data(kFeatures, kClasses));
    MiniRun plain(mlp_with(R"({"plugin": "single_device"})"), rule, made_up_data(kFeatures, kClasses));
    EXPECT_EQ(one.train(whole_batches(0, 10)), plain.train(whole_batches(0, 10)));
    EXPECT_TRUE(one.parameters().equal(plain.parameters()));
  }
}

}  // namespace
}  // namespace trainyard::testing
