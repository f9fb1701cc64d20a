// SPDX-License-Identifier: Apache-2.0
#include "strategies/horovod/horovod.h"

#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "strategies/testing/rank_team.h"

namespace trainyard::testing {
namespace {

double stat(TeamMember& member, const std::string& name) {
  for (const Scalar& scalar : member.strategy().stats()) {
    if (scalar.name == name) return scalar.value;
  }
  ADD_FAILURE() << "no " << name;
  return 0;
}

TEST(HorovodTest, GradientsAreFusedUpToTheSizeOfTheBuffer) {
  for (const auto& [fusion_mb, fused] : {std::pair{64.0, 0}, std::pair{0.0000001, 4}}) {
    SCOPED_TRACE(fusion_mb);
    RankTeam team(2, "horovod", fmt::format(R"({{"fusion_mb": {}, "cycle_time_ms": 1000}})", fusion_mb));
    team.each([](std::uint32_t rank, TeamMember& member) { member.step(1, made_up_rows(rank, 4)); });
    const double reductions = stat(team.member(0), "fused_reductions");
    // If only one parameter fits, each of the four is reduced separately.
    if (fused > 0) {
      EXPECT_EQ(reductions, fused);
    }
    EXPECT_GE(reductions, 1);
    EXPECT_EQ(stat(team.member(1), "fused_reductions"), reductions) << "all ranks ask for the same reductions";
    EXPECT_EQ(stat(team.member(0), "votes"), stat(team.member(1), "votes"));
  }
}

TEST(HorovodTest, ARankWithoutSamplesVotesAsTheOthersDo) {
  RankTeam team(3, "horovod");
  team.each([](std::uint32_t rank, TeamMember& member) { member.step(1, made_up_rows(1, rank == 1 ? 0 : 4)); });
  EXPECT_TRUE(team.member(1).announced().equal(team.member(0).announced()));
}

TEST(HorovodTest, AParameterWithoutElementsIsNotWaitedFor) {
  RankTeam team(2, "horovod", "{}", R"({"has_empty_parameter": true})");
  RankTeam plain(2, "horovod");
  for (RankTeam* each : {&team, &plain}) {
    each->each([](std::uint32_t rank, TeamMember& member) { member.step(1, made_up_rows(rank, 4)); });
  }
  EXPECT_TRUE(team.member(0).gradients().equal(plain.member(0).gradients()));
}

}  // namespace
}  // namespace trainyard::testing
