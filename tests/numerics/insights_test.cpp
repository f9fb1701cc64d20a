// SPDX-License-Identifier: Apache-2.0
// Checks that a run computes the same bits whether or not it reports what the model does.
#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <cmath>

#include "messages/histogram.h"
#include "messages/prediction.h"
#include "messages/validation_results.h"
#include "tests/numerics/mini_run.h"

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

/// What a run computes.
struct Outcome {
  std::vector<double> losses;  ///< Of training and evaluations, in order.
  at::Tensor parameters;
};

/// Validates before the first step, as a sanity check does, and between steps.
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

}  // namespace
}  // namespace trainyard::testing
