// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/reporter.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "components/accelerator_host/host_fixture.h"

namespace trainyard::testing {
namespace {

std::optional<double> value(const Metrics& metrics, const std::string& name) {
  for (const Scalar& scalar : metrics.values) {
    if (scalar.name == name) return scalar.value;
  }
  return {};
}

TEST_F(AcceleratorHostTest, MetricsComeEveryFewStepsWithTheLossOfThatStep) {
  start_ready(R"(, "log_every_steps": 2, "clip_norm": 5.0)");
  const Oracle expected = oracle();
  send("/orders", train(1, 8, 2));
  for (int i = 0; i < 8; ++i) {
    send("batches", batch(1, i));
    if (i % 2 == 1) answer((i + 1) / 2);
  }
  const auto metrics = rig_.received<Metrics>("/metrics");
  ASSERT_EQ(metrics.size(), 2u);
  EXPECT_EQ(metrics[0]->step, 2u);
  EXPECT_EQ(metrics[0]->stage, "train");
  EXPECT_EQ(metrics[0]->samples, 16u);
  EXPECT_EQ(value(*metrics[0], "learning_rate"), 0.5);
  EXPECT_GT(value(*metrics[0], "gradient_norm").value(), 0);
  EXPECT_GT(value(*metrics[0], "throughput").value(), 0);
  const double loss = (expected.loss(batch(1, 2)) + expected.loss(batch(1, 3))).item<double>() / 2;
  EXPECT_NEAR(value(*metrics[0], "loss").value(), loss, 1e-6);
}

TEST_F(AcceleratorHostTest, AnEvaluationOfTrainingDataIsAStageOfItsOwn) {
  start_ready();
  send("/orders", Order{.id = 1, .kind = OrderKind::kEvaluate, .split = "train", .batches = 1, .total_steps = 9});
  send("batches", batch(1, 0));
  const auto metrics = rig_.received<Metrics>("/metrics");
  ASSERT_EQ(metrics.size(), 1u);
  EXPECT_EQ(metrics[0]->stage, "train_eval");
  EXPECT_EQ(metrics[0]->total_steps, 9u);
  EXPECT_FALSE(value(*metrics[0], "throughput").has_value()) << "evaluating is not training";
}

}  // namespace
}  // namespace trainyard::testing
