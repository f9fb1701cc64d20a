// SPDX-License-Identifier: Apache-2.0
// Tests the strategy `hierarchical`, which reduces gradients first inside each host and then between the hosts.
#include <ATen/ops/randint.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include "tests/numerics/given_gradients.h"
#include "tests/numerics/small_problem.h"

namespace trainyard::testing {
namespace {

using Gradients = GivenGradients::Gradients;

// With four ranks, these values give: one host; two hosts with two ranks each; a host with three ranks and a host with
// one; and four hosts with one rank each.
constexpr int kRanksPerHost[] = {0, 2, 3, 1};

TEST(HierarchicalTest, IsExactForIntegers) {
  const std::vector<std::vector<std::int64_t>> shapes{{50, 20}, {20}, {3, 7}};
  std::vector<Gradients> given(kRanks);
  for (Gradients& one : given) {
    for (const auto& shape : shapes) one.push_back(at::randint(-1000, 1000, shape).to(at::kFloat));
  }
  for (const int per_host : kRanksPerHost) {
    GivenGradients ranks(kRanks, "hierarchical",
                         fmt::format(R"({{"ranks_per_host": {}, "bucket_mb": 0.001}})", per_host), shapes);
    for (int step = 0; step < 3; ++step) {
      for (const Gradients& result : ranks.reduce(given)) {
        for (std::size_t i = 0; i < shapes.size(); ++i) {
          at::Tensor sum = at::zeros_like(result[i]);
          for (const Gradients& one : given) sum += one[i];
          EXPECT_TRUE(result[i].equal(sum / double{kRanks})) << per_host << " ranks per host";
        }
      }
    }
  }
}

TEST(HierarchicalTest, EqualsDdp) {
  const char* sgd = R"({"rule": "sgd", "lr": 0.1, "momentum": 0.9})";
  ManyRanks flat = ranks_with(R"({"plugin": "ddp"})", sgd);
  flat.train(dealt_batches(0, 20));
  const at::Tensor expected = flat.parameters()[0];
  for (const int per_host : kRanksPerHost) {
    ManyRanks ranks = ranks_with(
        fmt::format(R"({{"plugin": "hierarchical", "ranks_per_host": {}, "bucket_mb": 0.0005}})", per_host), sgd);
    ranks.train(dealt_batches(0, 20));
    const std::vector<at::Tensor> all = ranks.parameters();
    for (const at::Tensor& other : all) EXPECT_TRUE(other.equal(all[0])) << per_host << " ranks per host";
    EXPECT_LE(largest_difference(all[0], expected), 1e-6) << per_host << " ranks per host";
  }
}

}  // namespace
}  // namespace trainyard::testing
