// SPDX-License-Identifier: Apache-2.0
#include "strategies/diloco/diloco.h"

#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "strategies/testing/rank_team.h"

namespace trainyard::testing {
namespace {

/// With a learning rate of 1 and no momentum, the outer optimizer moves all the way to the mean.
TEST(DilocoTest, WithoutMomentumTheAnchorMovesToTheMeanOfTheRanks) {
  RankTeam team(2, "diloco", R"({"every_steps": 2, "outer_lr": 1, "outer_momentum": 0})");
  RankTeam apart(2, "diloco", R"({"every_steps": 100})");
  for (RankTeam* one : {&team, &apart}) {
    one->each([&](std::uint32_t rank, TeamMember& member) {
      for (std::uint64_t step = 1; step <= 2; ++step) member.step(step, made_up_rows(rank, 4));
    });
  }
  const at::Tensor mean = (apart.member(0).announced() + apart.member(1).announced()) / 2;
  EXPECT_LE((team.member(0).announced() - mean).abs().max().item<double>(), 1e-6);
  EXPECT_TRUE(team.member(1).announced().equal(team.member(0).announced()));
}

}  // namespace
}  // namespace trainyard::testing
