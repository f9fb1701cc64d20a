// SPDX-License-Identifier: Apache-2.0
#include "strategies/ddp/ddp.h"

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
    RankTeam alone(1, "ddp");
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

TEST(DdpTest, TheOptimizerSeesTheMeanOfAllRanksWhateverTheBuckets) {
  for (const char* bucket_mb : {"0", "0.0001", "25"}) {
    SCOPED_TRACE(bucket_mb);
    RankTeam team(3, "ddp", fmt::format(R"({{"bucket_mb": {}}})", bucket_mb));
    expect_mean(team);
  }
}

TEST(DdpTest, CompressedGradientsAreNearTheMeanAndEqualOnAllRanks) {
  for (const char* compression : {"fp16", "bf16"}) {
    SCOPED_TRACE(compression);
    RankTeam team(3, "ddp", fmt::format(R"({{"compression": "{}"}})", compression));
    team.each([](std::uint32_t rank, TeamMember& member) { member.step(1, made_up_rows(rank, 4)); });
    const at::Tensor expected = mean_of_alone(3);
    EXPECT_LE((team.member(0).gradients() - expected).abs().max().item<double>(), 0.05);
    EXPECT_FALSE(team.member(0).gradients().equal(expected)) << "16 bits are not 32";
    EXPECT_TRUE(team.member(2).gradients().equal(team.member(0).gradients()));
  }
}

}  // namespace
}  // namespace trainyard::testing
