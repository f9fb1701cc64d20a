// SPDX-License-Identifier: Apache-2.0
#include "strategies/hierarchical/hierarchical.h"

#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "strategies/testing/rank_team.h"

namespace trainyard::testing {
namespace {

/// Returns the mean of the gradients that every rank computes by itself, added up in the order of the ranks.
at::Tensor mean_of_alone(std::uint32_t ranks) {
  at::Tensor sum;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    RankTeam alone(1, "hierarchical");
    alone.member(0).step(1, made_up_rows(rank, 4));
    sum = sum.defined() ? sum + alone.member(0).gradients() : alone.member(0).gradients();
  }
  return sum / static_cast<double>(ranks);
}

void expect_mean(RankTeam& team) {
  team.each([](std::uint32_t rank, TeamMember& member) { member.step(1, made_up_rows(rank, 4)); });
  const at::Tensor expected = mean_of_alone(team.size());
  for (std::uint32_t rank = 0; rank < team.size(); ++rank) {
    EXPECT_LE((team.member(rank).gradients() - expected).abs().max().item<double>(), 1e-6) << "rank " << rank;
    EXPECT_TRUE(team.member(rank).gradients().equal(team.member(0).gradients())) << "rank " << rank;
  }
}

TEST(HierarchicalTest, TheOptimizerSeesTheMeanOfAllRanksHoweverManyAHostHas) {
  for (const int ranks_per_host : {0, 1, 2, 3}) {
    SCOPED_TRACE(ranks_per_host);
    RankTeam team(4, "hierarchical", fmt::format(R"({{"ranks_per_host": {}, "bucket_mb": 0.0001}})", ranks_per_host));
    expect_mean(team);
  }
}

}  // namespace
}  // namespace trainyard::testing
