// SPDX-License-Identifier: Apache-2.0
// Tests the strategy `horovod`, which fuses gradients into buckets as they become ready.
#include <ATen/ops/randint.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include "tests/numerics/given_gradients.h"
#include "tests/numerics/small_problem.h"

namespace trainyard::testing {
namespace {

using Gradients = GivenGradients::Gradients;

double stat(const GivenGradients& ranks, const std::string& name) {
  for (const Scalar& scalar : ranks.stats(0)) {
    if (scalar.name == name) return scalar.value;
  }
  return -1;
}

std::vector<Gradients> integers(const std::vector<std::vector<std::int64_t>>& shapes) {
  std::vector<Gradients> given(kRanks);
  for (Gradients& one : given) {
    for (const auto& shape : shapes) one.push_back(at::randint(-60, 61, shape).to(at::kFloat));
  }
  return given;
}

// With the collective shared_memory, the sum of an element does not depend on the elements that are reduced in the same
// operation.
TEST(HorovodTest, EqualsDdpBitForBitWhateverIsFused) {
  const char* sgd = R"({"rule": "sgd", "lr": 0.1, "momentum": 0.9})";
  ManyRanks flat = ranks_with(R"({"plugin": "ddp"})", sgd);
  const auto losses = flat.train(dealt_batches(0, 30));
  const at::Tensor expected = flat.parameters()[0];
  for (const char* how : {"", R"(, "cycle_time_ms": 0)", R"(, "cycle_time_ms": 1e6)", R"(, "fusion_mb": 1e-6)",
                          R"(, "cycle_time_ms": 0, "fusion_mb": 0.001)"}) {
    ManyRanks ranks = ranks_with(fmt::format(R"({{"plugin": "horovod"{}}})", how), sgd);
    EXPECT_EQ(ranks.train(dealt_batches(0, 30)), losses) << how;
    for (const at::Tensor& one : ranks.parameters()) EXPECT_TRUE(one.equal(expected)) << how;
  }
}

TEST(HorovodTest, FusesWhatBecomesReadyInOneCycleUpToItsLimit) {
  const std::vector<std::vector<std::int64_t>> shapes(8, {32, 32});
  const std::vector<Gradients> given = integers(shapes);
  struct Case {
    const char* parameters;
    double reductions;
  };
  for (const auto& [parameters, reductions] :
       {Case{R"({"cycle_time_ms": 1e6})", 1}, Case{R"({"cycle_time_ms": 1e6, "fusion_mb": 0.001})", 8},
        Case{R"({"cycle_time_ms": 0, "fusion_mb": 0.001})", 8}}) {
    GivenGradients ranks(kRanks, "horovod", parameters, shapes);
    for (int step = 0; step < 3; ++step) {
      ranks.reduce(given);
      EXPECT_EQ(stat(ranks, "fused_reductions"), reductions) << parameters;
    }
  }
}

TEST(HorovodTest, IsExactInFloat16ForIntegersThatFit) {
  const std::vector<std::vector<std::int64_t>> shapes{{50, 20}, {20}, {3, 7}};
  const std::vector<Gradients> given = integers(shapes);
  GivenGradients ranks(kRanks, "horovod", R"({"compression": "fp16", "cycle_time_ms": 0})", shapes);
  for (const Gradients& result : ranks.reduce(given)) {
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      at::Tensor sum = at::zeros_like(result[i]);
      for (const Gradients& one : given) sum += one[i];
      EXPECT_TRUE(result[i].equal(sum / double{kRanks}));
    }
  }
}

// There are more ranks than processors, so that the ranks vote at very different times.
TEST(HorovodTest, ManyVotesInManyStepsFindAnEnd) {
  const std::vector<std::vector<std::int64_t>> shapes(30, {5});
  const std::vector<Gradients> given = integers(shapes);
  GivenGradients ranks(kRanks, "horovod", R"({"cycle_time_ms": 0})", shapes);
  const Gradients first = ranks.reduce(given)[0];
  for (int step = 0; step < 100; ++step) {
    for (const Gradients& result : ranks.reduce(given)) EXPECT_TRUE(result[7].equal(first[7]));
  }
}

}  // namespace
}  // namespace trainyard::testing
