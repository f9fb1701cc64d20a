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
#include "tests/numerics/many_ranks.h"

namespace trainyard::testing {
namespace {

constexpr int kFeatures = 20, kClasses = 7;
constexpr std::uint32_t kRanks = 4;
constexpr const char* kMlp = R"("model": {"plugin": "mlp", "hidden": [16]})";

std::vector<Batch> whole_batches(int count) {
  std::vector<Batch> all;
  for (int i = 0; i < count; ++i) all.push_back(made_up_batch(static_cast<std::uint64_t>(i), 32, kFeatures, kClasses));
  return all;
}

std::string with_strategy(const std::string& name, const std::string& options, const std::string& more = "") {
  return fmt::format(R"({}{}, "strategy": {{"plugin": "{}"{}}})", kMlp, more, name, options);
}

std::string server(const std::string& mode, int staleness = 4) {
  return fmt::format(R"(, "mode": "{}", "staleness": {})", mode, staleness);
}

double largest_difference(const at::Tensor& a, const at::Tensor& b) { return (a - b).abs().max().item<double>(); }

double last_metric(MiniRun& run, const std::string& name) {
  const auto all = run.rig().received<RankMetrics>("/rank_metrics");
  const auto& values = all.back()->metrics.values;
  const auto found = std::ranges::find(values, name, &Scalar::name);
  return found == values.end() ? std::numeric_limits<double>::quiet_NaN() : found->value;
}

std::vector<std::uint64_t> pushes(ManyRanks& ranks) {
  std::vector<std::uint64_t> counts(kRanks);
  ranks.each(
      [&](std::uint32_t rank, MiniRun& run) { counts[rank] = run.rig().received<Gradients>("gradients").size(); });
  return counts;
}

/// What the last rank to end its last step has reported.
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
  ranks.each([&](std::uint32_t rank, MiniRun& run) { losses[rank] = run.evaluate(whole_batches(4)).at(0).value; });
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
    ManyRanks ddp(kRanks, with_strategy("ddp", ""), rule, made_up_data(kFeatures, kClasses));
    ManyRanks one(kRanks, with_strategy("parameter_server", server("sync")), rule, made_up_data(kFeatures, kClasses));
    ddp.train(deal(whole_batches(20), kRanks));
    one.train(deal(whole_batches(20), kRanks));
    EXPECT_TRUE(one.whole_parameters().equal(ddp.parameters()[0]));
    EXPECT_EQ(evaluated_losses(one), evaluated_losses(ddp)) << "every worker has what the server has";
    EXPECT_THAT(pushes(one), ::testing::ElementsAre(20, 0, 0, 0));
    EXPECT_EQ(updates(one), 20u);
  }
}

TEST(ParameterServerTest, WithoutStalenessUpdatesOfAStepAddUpToThatOfTheMean) {
  ManyRanks ddp(kRanks, with_strategy("ddp", ""), R"({"rule": "sgd", "lr": 0.4})", made_up_data(kFeatures, kClasses));
  ManyRanks one(kRanks, with_strategy("parameter_server", server("bounded", 0)), R"({"rule": "sgd", "lr": 0.1})",
                made_up_data(kFeatures, kClasses));
  const at::Tensor before = one.whole_parameters();
  ddp.train(deal(whole_batches(20), kRanks), 2);
  one.train(deal(whole_batches(20), kRanks), 2);
  EXPECT_GT(largest_difference(one.whole_parameters(), before), 1e-2);
  EXPECT_LE(largest_difference(one.whole_parameters(), ddp.parameters()[0]), 1e-6);
  EXPECT_EQ(staleness(one), 0);
}

TEST(ParameterServerTest, AWorkerThatIsHeldUpHoldsTheOthersBackAtTheBound) {
  constexpr std::uint64_t kSteps = 8;
  const std::vector<std::vector<Batch>> batches = deal(whole_batches(kSteps), kRanks);
  for (const int bound : {0, 2}) {
    ManyRanks ranks(kRanks, with_strategy("parameter_server", server("bounded", bound)),
                    R"({"rule": "adam", "lr": 0.01})", made_up_data(kFeatures, kClasses));
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

/// Every update shrinks all parameters by the same factor, whatever the gradients are: they are clipped to nothing.
TEST(ParameterServerTest, NoUpdateIsLostOrMadeTwice) {
  constexpr int kSteps = 30;
  for (const std::string mode : {"sync", "bounded", "async"}) {
    ManyRanks ranks(kRanks, with_strategy("parameter_server", server(mode, 1), R"(, "clip_norm": 1e-30)"),
                    R"({"rule": "sgd", "lr": 0.1, "weight_decay": 0.1})", made_up_data(kFeatures, kClasses));
    const at::Tensor before = ranks.whole_parameters();
    ranks.train(deal(whole_batches(kSteps), kRanks));
    const int made = mode == "sync" ? kSteps : static_cast<int>(kRanks) * kSteps;
    EXPECT_EQ(updates(ranks), static_cast<std::uint64_t>(made)) << mode;
    const double left = std::pow(0.99, made);
    EXPECT_LE(largest_difference(ranks.whole_parameters(), before * left), 1e-4 * left) << mode;
  }
}

TEST(ParameterServerTest, InAsyncTheLossGoesDownAndAllEvaluateTheSame) {
  ManyRanks ranks(kRanks, with_strategy("parameter_server", server("async")), R"({"rule": "sgd", "lr": 0.05})",
                  made_up_data(kFeatures, kClasses));
  const double before = evaluated_losses(ranks)[0];
  std::vector<std::vector<Batch>> batches = deal(whole_batches(4), kRanks);
  for (auto& one : batches) {
    for (int i = 0; i < 60; ++i) one.push_back(one[static_cast<std::size_t>(i)]);
  }
  ranks.train(batches);
  EXPECT_EQ(updates(ranks), kRanks * 64u);
  const std::vector<double> after = evaluated_losses(ranks);
  EXPECT_LT(after[0], 0.9 * before);
  EXPECT_THAT(after, ::testing::Each(after[0]));
}

TEST(ParameterServerTest, SchedulesFollowTheStepsOfTheRunNotTheUpdates) {
  ManyRanks ranks(kRanks, with_strategy("parameter_server", server("bounded", 1)),
                  R"({"rule": "sgd", "lr": 0.8, "schedule": "linear", "total_steps": 8})",
                  made_up_data(kFeatures, kClasses));
  ranks.train(deal(whole_batches(5), kRanks));
  ranks.each([](std::uint32_t, MiniRun& run) { EXPECT_DOUBLE_EQ(last_metric(run, "learning_rate"), 0.4); });
}

TEST(ParameterServerTest, AWorkerWithoutSamplesMakesNoUpdateAndHoldsNobodyUp) {
  constexpr int kSteps = 6;
  for (const std::string mode : {"sync", "bounded", "async"}) {
    ManyRanks ranks(kRanks, with_strategy("parameter_server", server(mode, 0)), R"({"rule": "sgd", "lr": 0.05})",
                    made_up_data(kFeatures, kClasses));
    std::vector<std::vector<Batch>> batches = deal(whole_batches(kSteps), kRanks);
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
  ManyRanks ranks(kRanks, with_strategy("parameter_server", server("bounded", 1), R"(, "precision": "16-mixed")"),
                  R"({"rule": "sgd", "lr": 0.01})", made_up_data(kFeatures, kClasses));
  std::vector<std::vector<Batch>> batches = deal(whole_batches(kSteps), kRanks);
  Batch& large = batches[1][2];  // Its rows are those of other ranks, too.
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
    MiniRun one(with_strategy("parameter_server", server(mode)), rule, made_up_data(kFeatures, kClasses));
    MiniRun plain(with_strategy("single_device", ""), rule, made_up_data(kFeatures, kClasses));
    EXPECT_EQ(one.train(whole_batches(10)), plain.train(whole_batches(10)));
    EXPECT_TRUE(one.parameters().equal(plain.parameters()));
  }
}

}  // namespace
}  // namespace trainyard::testing
