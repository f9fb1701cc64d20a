// SPDX-License-Identifier: Apache-2.0
#include "strategies/dp/dp.h"

#include <gtest/gtest.h>

#include "strategies/testing/rank_team.h"

namespace trainyard::testing {
namespace {

/// one_process_test.cpp tests the error for ranks in several processes.
TEST(DpTest, NeedsAllRanksInOneProcess) {
  StrategyContext context;
  context.where = "strategy 'dp'";
  context.parameters = "{}";
  EXPECT_EQ(Dp(context).traits().share, RanksShare::kProcess);
}

TEST(DpTest, RanksThatAreThreadsMakeTheSameUpdate) {
  RankTeam team(2, "dp");
  team.each([](std::uint32_t rank, TeamMember& member) { member.step(1, made_up_rows(rank, 4)); });
  EXPECT_TRUE(team.member(1).announced().equal(team.member(0).announced()));
}

}  // namespace
}  // namespace trainyard::testing
