// SPDX-License-Identifier: Apache-2.0
// Compares runs in which ranks have different numbers of samples, or no samples, with a run in which one rank has all
// samples.
#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>
#include <algorithm>

#include "components/strategy_manager/metrics_merger.h"
#include "tests/numerics/many_ranks.h"

namespace trainyard::testing {
namespace {

constexpr int kInputs = 20, kOutputs = 7;
constexpr std::uint32_t kWorld = 4;
constexpr const char* kDoubleMlp = R"("model": {"plugin": "mlp", "hidden": [16]}, "precision": "64-true")";
constexpr const char* kMomentum = R"({"rule": "sgd", "lr": 0.1, "momentum": 0.9})";

/// The number of rows for each rank in each batch. Some of these divisions occur at the end of an epoch; others are
/// more uneven than a data loader would make them.
constexpr std::int64_t kRows[][kWorld] = {{8, 8, 8, 8}, {8, 8, 7, 7}, {3, 0, 0, 0},
                                          {0, 0, 5, 1}, {1, 2, 3, 4}, {0, 6, 0, 6}};

std::vector<Batch> all_batches() {
  std::vector<Batch> all;
  for (const auto& rows_of : kRows) {
    const std::int64_t samples = rows_of[0] + rows_of[1] + rows_of[2] + rows_of[3];
    all.push_back(made_up_batch(all.size(), samples, kInputs, kOutputs));
  }
  return all;
}

/// Returns the batches of every rank, as result[rank][batch].
std::vector<std::vector<Batch>> dealt_unevenly() {
  std::vector<std::vector<Batch>> dealt(kWorld);
  const std::vector<Batch> all = all_batches();
  for (std::size_t number = 0; number < all.size(); ++number) {
    std::int64_t begin = 0;
    for (std::uint32_t rank = 0; rank < kWorld; ++rank) {
      const std::int64_t end = begin + kRows[number][rank];
      dealt[rank].push_back(rows(all[number], begin, end));
      dealt[rank].back().world_samples = all[number].samples;
      begin = end;
    }
  }
  return dealt;
}

class UnevenRanksTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  MiniRun one_{kDoubleMlp, kMomentum, made_up_data(kInputs, kOutputs)};
  ManyRanks ranks_{kWorld, std::string(kDoubleMlp) + R"(, "strategy": "ddp")", kMomentum,
                   made_up_data(kInputs, kOutputs)};
};

TEST_P(UnevenRanksTest, StepsAndLossesAreThoseOfAllSamples) {
  const std::vector<double> expected = one_.train(all_batches(), GetParam());
  ranks_.train(dealt_unevenly(), GetParam());
  const std::vector<at::Tensor> parameters = ranks_.parameters();
  for (const at::Tensor& each : parameters) EXPECT_TRUE(each.equal(parameters[0]));
  EXPECT_LE((parameters[0] - one_.parameters()).abs().max().item<double>(), 1e-12);

  manager::MetricsMerger merger(kWorld);
  std::vector<RankMetrics> said;
  std::mutex mutex;
  ranks_.each([&](std::uint32_t, MiniRun& run) {
    const std::lock_guard lock(mutex);
    for (const auto& one : run.rig().received<RankMetrics>("/rank_metrics")) said.push_back(*one);
  });
  for (const RankMetrics& one : said) merger.add(one);
  const std::vector<Metrics> merged = merger.take();
  ASSERT_EQ(merged.size(), expected.size());
  if (GetParam() > 1) return;  // With several micro-batches, the loss of a rank is the mean over its micro-batches.
  for (std::size_t step = 0; step < merged.size(); ++step) {
    const auto loss = std::ranges::find(merged[step].values, "loss", &Scalar::name);
    ASSERT_NE(loss, merged[step].values.end());
    EXPECT_NEAR(loss->value, expected[step], 1e-12);
  }
}

INSTANTIATE_TEST_SUITE_P(MicroBatches, UnevenRanksTest, ::testing::Values(1, 2, 3));

TEST_F(UnevenRanksTest, AnEvaluationIsThatOfAllSamples) {
  const std::vector<Scalar> expected = one_.evaluate(all_batches());
  const std::vector<std::vector<Batch>> batches = dealt_unevenly();
  ScalarMerger merger;
  std::mutex mutex;
  ranks_.each([&](std::uint32_t rank, MiniRun& run) {
    run.evaluate(batches[rank]);
    const auto done = run.rig().received<OrderDone>("/order_done").back();
    const std::lock_guard lock(mutex);
    EXPECT_EQ(done->rank, rank);
    merger.add(done->metrics, static_cast<double>(done->samples), done->reductions);
  });
  const std::vector<Scalar> merged = merger.values();
  ASSERT_EQ(merged.size(), expected.size());
  for (std::size_t i = 0; i < merged.size(); ++i) {
    EXPECT_EQ(merged[i].name, expected[i].name);
    // The accuracy of a batch is a float.
    EXPECT_NEAR(merged[i].value, expected[i].value, expected[i].name == "loss" ? 1e-12 : 1e-7);
  }
}

}  // namespace
}  // namespace trainyard::testing
