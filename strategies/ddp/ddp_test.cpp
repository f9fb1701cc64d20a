// SPDX-License-Identifier: Apache-2.0
#include "strategies/ddp/ddp.h"

#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "strategies/testing/rank_team.h"

namespace trainyard::testing {
namespace {

void expect_mean(RankTeam& team) {
  team.each([](std::uint32_t rank, TeamMember& member) { member.step(1, made_up_rows(rank, 4)); });
  const at::Tensor expected = mean_of_gradients_alone("ddp", team.size());
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
    const at::Tensor expected = mean_of_gradients_alone("ddp", 3);
    EXPECT_LE((team.member(0).gradients() - expected).abs().max().item<double>(), 0.05);
    EXPECT_FALSE(team.member(0).gradients().equal(expected)) << "16 bits are not 32";
    EXPECT_TRUE(team.member(2).gradients().equal(team.member(0).gradients()));
  }
}

}  // namespace
}  // namespace trainyard::testing
