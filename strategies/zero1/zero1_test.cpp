// SPDX-License-Identifier: Apache-2.0
#include "strategies/zero1/zero1.h"

#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "strategies/testing/rank_team.h"

namespace trainyard::testing {
namespace {

TEST(Zero1Test, RanksUpdateTheirPartAndThenHaveAllParameters) {
  RankTeam team(3, "zero1");
  team.each([](std::uint32_t rank, TeamMember& member) { member.step(1, made_up_rows(rank, 4)); });
  const at::Tensor whole = team.whole_parameters();
  std::uint64_t end = 0;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    const Arena& arena = team.member(rank).arena();
    EXPECT_EQ(arena.shard().begin, end);
    end = arena.shard().end;
    EXPECT_TRUE(arena.parameters().equal(whole)) << "rank " << rank;
    EXPECT_EQ(arena.gradients().abs().sum().item<double>(), 0) << "also those that no optimizer saw";
  }
}

}  // namespace
}  // namespace trainyard::testing
