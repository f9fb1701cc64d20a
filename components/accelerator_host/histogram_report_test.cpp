// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/histogram_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "components/accelerator_host/host_fixture.h"

namespace trainyard::testing {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> names(const Histograms& message, HistogramOf of) {
  std::vector<std::string> all;
  for (const Histogram& one : message.histograms) {
    if (one.of == of) all.push_back(one.name);
  }
  return all;
}

const Histogram& find(const Histograms& message, HistogramOf of, const std::string& name) {
  for (const Histogram& one : message.histograms) {
    if (one.of == of && one.name == name) return one;
  }
  throw Error(Code::kNotFound, "no histogram {}", name);
}

/// Checks the fields of `histogram` that can be computed from the values without the buckets.
void expect_describes(const Histogram& histogram, const at::Tensor& values) {
  EXPECT_EQ(histogram.elements, static_cast<std::uint64_t>(values.numel()));
  EXPECT_FLOAT_EQ(static_cast<float>(histogram.smallest), values.min().item<float>());
  EXPECT_FLOAT_EQ(static_cast<float>(histogram.largest), values.max().item<float>());
  EXPECT_NEAR(histogram.mean, values.mean().item<double>(), 1e-6);
  EXPECT_EQ(std::accumulate(histogram.counts.begin(), histogram.counts.end(), std::uint64_t{0}), histogram.elements);
}

TEST_F(AcceleratorHostTest, HistogramsAreOffByDefault) {
  start_ready();
  send("/orders", train(1, 1));
  send("batches", batch(1, 0));
  answer(1);
  EXPECT_EQ(done(), 1u);
  EXPECT_TRUE(rig_.received<Histograms>("/histograms").empty());
}

TEST_F(AcceleratorHostTest, HistogramsComeEveryNStepsWithTheValuesOfTheStep) {
  start_ready(R"(, "histograms_every_steps": 2)");
  const Oracle expected = oracle();
  send("/orders", train(1, 2));
  send("batches", batch(1, 0));
  answer(1);
  EXPECT_TRUE(rig_.received<Histograms>("/histograms").empty());
  send("batches", batch(1, 1));
  const at::Tensor gradient = entry("layers.1.weight", 1).clone();
  entry("layers.0.bias", 0).fill_(0.75);  // The simulated update of the optimizer.
  answer(2);
  const auto said = rig_.received<Histograms>("/histograms");
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0]->step, 2u);
  EXPECT_EQ(said[0]->ranks, 1u);
  const auto all = ElementsAre("layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias");
  EXPECT_THAT(names(*said[0], HistogramOf::kWeights), all);
  EXPECT_THAT(names(*said[0], HistogramOf::kGradients), all);
  EXPECT_THAT(names(*said[0], HistogramOf::kActivations), ElementsAre("layers.0", "layers.1"));
  expect_describes(find(*said[0], HistogramOf::kGradients, "layers.1.weight"), gradient);
  expect_describes(find(*said[0], HistogramOf::kWeights, "layers.0.bias"), entry("layers.0.bias", 0));
  const at::Tensor hidden =
      at::linear(view_of(batch(1, 1).tensors[0]), expected.parameters[0], expected.parameters[1]).detach();
  expect_describes(find(*said[0], HistogramOf::kActivations, "layers.0"), hidden);
}

TEST_F(AcceleratorHostTest, GradientsAreMeasuredAsTheOptimizerUsesThem) {
  start_ready(R"(, "histograms_every_steps": 1, "clip_norm": 1e-3)");
  send("/orders", train(1, 1));
  send("batches", batch(1, 0));
  const double scale = rig_.received<Gradients>("gradients").at(0)->scale;
  ASSERT_LT(scale, 1);
  const at::Tensor clipped = entry("layers.0.weight", 1) * scale;
  answer(1);
  const auto said = rig_.received<Histograms>("/histograms").at(0);
  expect_describes(find(*said, HistogramOf::kGradients, "layers.0.weight"), clipped);
}

TEST_F(AcceleratorHostTest, ASkippedStepHasNoHistograms) {
  start_ready(R"(, "histograms_every_steps": 1, "on_nan": "skip")");
  send("/orders", train(1, 2));
  Batch broken = batch(1, 0);
  broken.tensors[0].as<float>()[0] = std::numeric_limits<float>::quiet_NaN();
  send("batches", broken);
  EXPECT_TRUE(rig_.received<Histograms>("/histograms").empty());
  send("batches", batch(1, 1));
  answer(1);
  const auto said = rig_.received<Histograms>("/histograms");
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0]->step, 1u);
  EXPECT_EQ(names(*said[0], HistogramOf::kGradients).size(), 4u);
  EXPECT_EQ(names(*said[0], HistogramOf::kActivations).size(), 2u);
}

}  // namespace
}  // namespace trainyard::testing
