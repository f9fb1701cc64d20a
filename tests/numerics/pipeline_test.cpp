// SPDX-License-Identifier: Apache-2.0
// Compares runs with the strategy `pipeline` with the same runs on one rank.
#include <ATen/TensorOperators.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "messages/error.h"
#include "tensors/bridge.h"
#include "tests/numerics/many_ranks.h"

namespace trainyard::testing {
namespace {

constexpr std::uint32_t kPipelineRanks = 4;
constexpr int kPixels = 144, kDigits = 7;
constexpr const char* kMomentum = R"({"rule": "sgd", "lr": 0.1, "momentum": 0.9})";
constexpr const char* kDeepMlp = R"("model": {"plugin": "mlp", "hidden": [16, 24, 12, 20], "activation": "tanh"})";
constexpr const char* kImages = R"("model": {"plugin": "convnet", "channels": [4, 6], "hidden": 20, "dropout": 0})";

DatasetInfo image_data() {
  DatasetInfo data = made_up_data(kPixels, kDigits);
  data.fields[0].shape = {12, 12};
  return data;
}

std::vector<Batch> image_batches(int count, std::int64_t samples) {
  std::vector<Batch> all;
  for (int i = 0; i < count; ++i) {
    all.push_back(made_up_batch(static_cast<std::uint64_t>(i), samples, kPixels, kDigits));
  }
  return all;
}

double difference(const at::Tensor& a, const at::Tensor& b) { return (a - b).abs().max().item<double>(); }

/// A run on one rank, and the same run as a pipeline, whose ranks all get the same batches.
struct Pair {
  Pair(const std::string& host, const std::string& pipeline)
      : one(host, kMomentum, image_data()),
        ranks(kPipelineRanks, fmt::format(R"({}, "strategy": {{"plugin": "pipeline"{}}})", host, pipeline), kMomentum,
              image_data()) {}

  void expect_equal(const std::vector<Batch>& batches, std::uint64_t micro_batches, double tolerance) {
    const std::vector<double> expected = one.train(batches, micro_batches);
    const auto losses = ranks.train(std::vector(kPipelineRanks, batches), micro_batches);
    for (const std::vector<double>& found : losses) {
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance) << "step " << i;
    }
    EXPECT_LE(difference(ranks.whole_parameters(), one.parameters()), tolerance);
  }

  MiniRun one;
  ManyRanks ranks;
};

TEST(PipelineTest, EqualsOneRankWithBothSchedulesAlsoWithUnevenMicroBatches) {
  for (const char* model : {kDeepMlp, kImages}) {
    for (const char* schedule : {"gpipe", "1f1b"}) {
      for (const int micro_batches : {0, 7}) {
        SCOPED_TRACE(fmt::format("{} {} {}", model, schedule, micro_batches));
        Pair pair(model, fmt::format(R"(, "schedule": "{}", "micro_batches": {})", schedule, micro_batches));
        pair.expect_equal(image_batches(6, 30), 1, 1e-6);
      }
    }
  }
}

TEST(PipelineTest, EqualsOneRankToTwelveDigitsInDoublePrecision) {
  for (const char* schedule : {"gpipe", "1f1b"}) {
    Pair pair(std::string(kDeepMlp) + R"(, "precision": "64-true")", fmt::format(R"(, "schedule": "{}")", schedule));
    pair.expect_equal(image_batches(6, 30), 1, 1e-12);
  }
}

TEST(PipelineTest, AccumulatesGradientsAndClipsTheNormOfAllRanks) {
  Pair pair(std::string(kDeepMlp) + R"(, "clip_norm": 0.05)", "");
  pair.expect_equal(image_batches(12, 10), 3, 1e-6);
  pair.ranks.each([&](std::uint32_t, MiniRun& run) {
    EXPECT_NEAR(run.metric("gradient_norm"), pair.one.metric("gradient_norm"), 1e-6);
    EXPECT_GT(run.metric("gradient_norm"), 0.05) << "or nothing is clipped here";
  });
}

/// Tests batches whose number of samples is not a multiple of the number of micro-batches, or is even smaller.
TEST(PipelineTest, ShortBatchesAreCutIntoFewerParts) {
  Pair pair(kDeepMlp, R"(, "micro_batches": 5)");
  std::vector<Batch> batches = image_batches(2, 11);
  batches.push_back(rows(batches[0], 2, 5));
  batches.push_back(rows(batches[0], 4, 5));
  pair.expect_equal(batches, 1, 1e-6);
}

TEST(PipelineTest, ARankHoldsNoMoreMicroBatchesThanThereAreRanksFromItOn) {
  for (const bool all_at_once : {true, false}) {
    Pair pair(kDeepMlp, fmt::format(R"(, "schedule": "{}", "micro_batches": 9)", all_at_once ? "gpipe" : "1f1b"));
    pair.expect_equal(image_batches(2, 27), 1, 1e-6);
    std::uint64_t bytes = 0;
    pair.ranks.each([&](std::uint32_t rank, MiniRun& run) {
      EXPECT_EQ(run.metric("micro_batches_held"), all_at_once ? 9 : kPipelineRanks - rank);
      EXPECT_EQ(run.metric("parameter_bytes"), static_cast<double>(run.arena().blocks[0].data.bytes()));
    });
    for (const at::Tensor& own : pair.ranks.parameters()) bytes += own.nbytes();
    EXPECT_EQ(bytes, pair.one.arena().parameter_bytes) << "every parameter is on one rank";
  }
}

TEST(PipelineTest, EvaluatesToTheSameNumbersOnEveryRank) {
  Pair pair(kImages, "");
  const std::vector<Batch> batches = image_batches(3, 17);
  pair.expect_equal(batches, 1, 1e-6);
  const std::vector<Scalar> expected = pair.one.evaluate(batches);
  ASSERT_EQ(expected.size(), 2u);
  pair.ranks.each([&](std::uint32_t, MiniRun& run) {
    const std::vector<Scalar> found = run.evaluate(batches);
    ASSERT_EQ(found.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(found[i].name, expected[i].name);
      EXPECT_NEAR(found[i].value, expected[i].value, 1e-6);
    }
  });
  pair.expect_equal(batches, 1, 1e-6);
}

/// During training, only the rank of a stage has the running means of its batch norms. For predictions, every rank
/// needs the whole model.
TEST(PipelineTest, PredictsWithTheParametersAndBuffersOfAllRanks) {
  const std::string model = R"("model": {"plugin": "resnet", "width": 4})";
  DatasetInfo data = made_up_data(3 * 8 * 8, kDigits);
  data.fields[0].shape = {3, 8, 8};
  std::vector<Batch> batches;
  for (std::uint64_t i = 0; i < 3; ++i) {
    batches.push_back(made_up_batch(i, 6, 3 * 8 * 8, kDigits));
    batches.back().tensors[0].shape = {6, 3, 8, 8};
  }
  MiniRun one(model, kMomentum, data);
  ManyRanks ranks(kPipelineRanks, model + R"(, "strategy": {"plugin": "pipeline", "micro_batches": 1})", kMomentum,
                  data);
  one.train(batches);
  ranks.train(std::vector(kPipelineRanks, batches));
  const Prediction expected = one.predict(batches.back());
  ranks.each([&](std::uint32_t, MiniRun& run) {
    const Prediction found = run.predict(batches.back());
    EXPECT_LE(difference(view_of(found.tensors[1]), view_of(expected.tensors[1])), 1e-5);
    EXPECT_LE(difference(view_of(run.arena().blocks[2].data).view(at::kFloat),
                         view_of(one.arena().blocks[2].data).view(at::kFloat)),
              1e-5);
  });
  EXPECT_EQ(ranks.train(std::vector(kPipelineRanks, batches)).size(), kPipelineRanks) << "training goes on";
}

TEST(PipelineTest, WhatCannotBeCutIsRefused) {
  const auto error_of = [](const std::string& model, const DatasetInfo& data) -> std::string {
    try {
      ManyRanks ranks(kPipelineRanks, model + R"(, "strategy": {"plugin": "pipeline"})", kMomentum, data);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(error_of(R"("model": {"plugin": "mlp", "hidden": [16, 8]})", image_data()),
              ::testing::HasSubstr("the run has 4 ranks, the model has 3 stages; every rank needs one"));
  DatasetInfo text = made_up_data(12, 11);
  text.fields = {{"input", 4, {12}}, {"target", 4, {12}}};
  EXPECT_THAT(
      error_of(R"("model": {"plugin": "gpt", "layers": 4, "heads": 2, "width": 32})", text),
      ::testing::HasSubstr("parameter 'transformer.wte.weight' belongs to stage 'transformer.embedding' on rank "
                           "0 and to stage 'transformer.head' on rank 3"));
}

}  // namespace
}  // namespace trainyard::testing
