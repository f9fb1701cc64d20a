// SPDX-License-Identifier: Apache-2.0
// Tests that the results of a run are bit-identical, whether or not it reports histograms and samples.
#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <mutex>
#include <numeric>
#include <utility>

#include "messages/histogram.h"
#include "messages/prediction.h"
#include "messages/validation_results.h"
#include "tests/numerics/many_ranks.h"

namespace trainyard::testing {
namespace {

constexpr const char* kReports = R"(, "histograms_every_steps": 1, "samples_per_validation": 2)";
constexpr const char* kAdamW = R"({"rule": "adamw", "lr": 1e-2})";

DatasetInfo images() {
  DatasetInfo data;
  data.dataset = "made up";
  data.fields = {{"input", static_cast<std::uint8_t>(DType::kFloat32), {3, 8, 8}},
                 {"target", static_cast<std::uint8_t>(DType::kInt64), {}}};
  data.classes = 4;
  data.batch_size = 6;
  return data;
}

Batch image_batch(std::uint64_t index) {
  Batch batch = made_up_batch(index, 6, 192, 4);
  batch.tensors[0].shape = {6, 3, 8, 8};
  return batch;
}

DatasetInfo text() {
  DatasetInfo data;
  data.dataset = "made up";
  data.fields = {{"input", static_cast<std::uint8_t>(DType::kInt64), {12}},
                 {"target", static_cast<std::uint8_t>(DType::kInt64), {12}}};
  data.classes = 11;
  data.unit = "token";
  return data;
}

Batch text_batch(std::uint64_t index) {
  Batch batch = made_up_batch(index, 4, 1, 11);
  batch.tensors = {Tensor::empty(DType::kInt64, {4, 12}), Tensor::empty(DType::kInt64, {4, 12})};
  for (Tensor& tensor : batch.tensors) {
    for (std::size_t t = 0; t < 48; ++t) tensor.as<std::int64_t>()[t] = static_cast<std::int64_t>(t * t + index) % 11;
  }
  return batch;
}

/// The results of a run.
struct Outcome {
  std::vector<double> losses;  ///< The losses of training and evaluations, in order.
  at::Tensor parameters;
};

/// Trains with a validation before the first step and validations between steps.
template <class MakeBatch>
Outcome outcome_of(MiniRun& run, const MakeBatch& make_batch) {
  Outcome outcome;
  for (std::uint64_t round = 0; round < 3; ++round) {
    outcome.losses.push_back(run.evaluate({make_batch(100), make_batch(101)}).at(0).value);
    for (const double loss : run.train({make_batch(2 * round), make_batch(2 * round + 1)})) {
      outcome.losses.push_back(loss);
    }
  }
  outcome.parameters = run.parameters().clone();
  return outcome;
}

void expect_same_bits(const Outcome& a, const Outcome& b) {
  EXPECT_EQ(a.losses, b.losses);
  EXPECT_TRUE(a.parameters.equal(b.parameters));
  for (const double loss : a.losses) EXPECT_TRUE(std::isfinite(loss));
}

TEST(InsightsTest, ReportsOfAClassifierDoNotChangeABit) {
  for (const std::string model : {R"("model": {"plugin": "convnet", "channels": [4], "hidden": 8, "dropout": 0.5})",
                                  R"("model": {"plugin": "resnet", "width": 8})"}) {
    MiniRun plain(model, kAdamW, images());
    MiniRun reporting(model + kReports + R"(, "confusion_matrix": true)", kAdamW, images());
    expect_same_bits(outcome_of(plain, image_batch), outcome_of(reporting, image_batch));
    EXPECT_TRUE(plain.rig().received<Histograms>("/histograms").empty());
    ASSERT_EQ(reporting.rig().received<Histograms>("/histograms").size(), 6u);
    EXPECT_EQ(reporting.rig().received<Confusion>("/confusion").size(), 3u);
    const auto samples = reporting.rig().received<SampleResults>("/samples");
    ASSERT_EQ(samples.size(), 3u);
    EXPECT_EQ(samples[0]->samples.size(), 2u);
    EXPECT_NE(samples[0]->samples[0].image, "");
  }
}

TEST(InsightsTest, ReportsOfAGeneratorDoNotChangeABit) {
  const std::string model =
      R"("model": {"plugin": "gpt", "layers": 2, "heads": 2, "width": 32, "dropout": 0.2, "sample_tokens": 20})";
  MiniRun plain(model, kAdamW, text());
  MiniRun reporting(model + kReports, kAdamW, text());
  expect_same_bits(outcome_of(plain, text_batch), outcome_of(reporting, text_batch));
  EXPECT_TRUE(plain.rig().received<Prediction>("/predictions").empty());
  const auto texts = reporting.rig().received<Prediction>("/predictions");
  ASSERT_EQ(texts.size(), 6u);
  EXPECT_EQ(texts[0]->title, "generated text");
  EXPECT_NE(texts[0]->text, texts[1]->text) << "the texts of one validation differ";
  EXPECT_EQ(texts[2]->step, 2u);
}

/// The reports of all ranks about one tensor.
struct Reported {
  std::uint64_t elements = 0, counted = 0;
  double smallest = 0, largest = 0;
};
using AllReported = std::map<std::pair<HistogramOf, std::string>, Reported>;

/// Trains four ranks for two steps, and returns their reports about the second step.
AllReported reported(const std::string& strategy, std::vector<std::vector<double>>& losses) {
  ManyRanks ranks(4,
                  R"("model": {"plugin": "mlp", "hidden": [16, 24]}, "strategy": {"plugin": ")" + strategy + R"("})" +
                      R"(, "histograms_every_steps": 2, "confusion_matrix": true, "samples_per_validation": 3)",
                  kAdamW, made_up_data(20, 7));
  losses = ranks.train(deal({made_up_batch(0, 32, 20, 7), made_up_batch(1, 32, 20, 7)}, 4));
  AllReported all;
  std::uint64_t confused = 0;
  std::mutex mutex;
  ranks.each([&](std::uint32_t rank, MiniRun& run) {
    run.evaluate({made_up_batch(10 + rank, 8, 20, 7)});
    const std::lock_guard lock(mutex);
    for (const auto& message : run.rig().received<Histograms>("/histograms")) {
      EXPECT_EQ(message->step, 2u);
      for (const Histogram& one : message->histograms) {
        Reported& sum = all[{one.of, one.name}];
        sum.elements += one.elements;
        sum.counted += std::accumulate(one.counts.begin(), one.counts.end(), std::uint64_t{0});
        sum.smallest = std::min(sum.smallest, one.smallest);
        sum.largest = std::max(sum.largest, one.largest);
      }
    }
    for (const auto& message : run.rig().received<Confusion>("/confusion")) {
      confused += std::accumulate(message->counts.begin(), message->counts.end(), std::uint64_t{0});
    }
    EXPECT_EQ(run.rig().received<SampleResults>("/samples").size(), rank == 0 ? 1u : 0u);
  });
  EXPECT_EQ(confused, 32u) << strategy << ": every sample of every rank is counted once";
  return all;
}

TEST(InsightsTest, RanksReportTheirPartsAndEveryValueOnce) {
  std::vector<std::vector<double>> losses;
  const AllReported whole = reported("ddp", losses);
  EXPECT_EQ((whole.at({HistogramOf::kWeights, "layers.0.weight"}).elements), 320u);
  for (const std::string strategy : {"zero1", "zero2", "fsdp"}) {
    const AllReported parts = reported(strategy, losses);
    for (const auto& [key, expected] : whole) {
      if (key.first == HistogramOf::kActivations) continue;
      ASSERT_TRUE(parts.contains(key)) << strategy << " " << key.second;
      const Reported& found = parts.at(key);
      EXPECT_EQ(found.elements, expected.elements) << strategy << " " << key.second;
      EXPECT_EQ(found.counted, expected.counted) << strategy << " " << key.second;
      EXPECT_NEAR(found.smallest, expected.smallest, 1e-5) << strategy << " " << key.second;
      EXPECT_NEAR(found.largest, expected.largest, 1e-5) << strategy << " " << key.second;
    }
  }
}

}  // namespace
}  // namespace trainyard::testing
